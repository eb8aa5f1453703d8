import { Elysia } from "elysia";
import { invalidFields } from "../../errors";
import { passwordError, listSessionsOf } from "../../features/auth";
import {
  authenticate,
  changePassword,
  endOneSession,
  endSessions,
  getUser,
  renameUser,
} from "../../features/users";
import { type RequestContext, actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import { ACCOUNT_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { waitText } from "../wait-text";
import { Account } from "./account";

/** Settings → Account. */
export function accountAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, passwords, throttle, writeAs } = deps;
  const done = createDone(deps.flashes);
  const SIGNED_IN = session("viewer");

  function show(
    at: ScreenRequest,
    wrong: {
      name?: string;
      nameComplaints?: Complaints;
      passwordComplaints?: Complaints;
    } = {},
  ) {
    const { id, user } = sessionOf(at.requestContext);
    const now = ctx.clock.now();
    const stored = getUser(ctx.db, user.id);
    const { name = stored.name } = wrong;
    const { nameComplaints = NO_COMPLAINTS, passwordComplaints = NO_COMPLAINTS } = wrong;
    const sessions = listSessionsOf(ctx.db, user.id, now);
    const page = { user: stored, name, nameComplaints, passwordComplaints, sessions, now };
    return render.screen(at, {
      title: "Account",
      status: statusOf({ ...nameComplaints, ...passwordComplaints }),
      children: <Account {...page} currentSessionId={id} />,
    });
  }

  /**
   * Returns the error of the typed current password; undefined if the password is right. Attempts
   * are throttled by client address.
   */
  async function currentPasswordError(
    requestContext: RequestContext,
    password: string,
  ): Promise<string | undefined> {
    const { address } = requestContext;
    const { email } = sessionOf(requestContext).user;
    const seconds = throttle.takeAttempt(address);
    if (seconds > 0) return waitText(seconds);
    const credentials = { email, password };
    const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
    if (!("rejection" in outcome)) return undefined;
    return outcome.rejection === "wrong" ? "is wrong" : waitText(outcome.seconds);
  }

  return new Elysia({ prefix: ACCOUNT_PATH })
    .use(requestContexts.plugin)
    .get(
      "",
      async ({ request, requestContext }) => show({ request, requestContext }),
      screenOperation("The user's own account", SIGNED_IN),
    )
    .post(
      "/name",
      async ({ request, requestContext, body: form }) => {
        const name = form.text("name");
        const { user } = sessionOf(requestContext);
        let isChanged: boolean;
        try {
          isChanged = await writeAs(requestContext, (tx) => {
            const before = getUser(tx, user.id).name;
            return (
              renameUser(ctx, tx, user.id, name.trim(), actorOf(requestContext)).name !== before
            );
          });
        } catch (error) {
          const nameComplaints = complaintsOrThrow(error);
          return show({ request, requestContext }, { name, nameComplaints });
        }
        return done(requestContext, ACCOUNT_PATH, isChanged ? "Your name was changed." : undefined);
      },
      { ...formBody(), ...screenOperation("Change the own name", SIGNED_IN) },
    )
    .post(
      "/password",
      async ({ request, requestContext, body: form }) => {
        const { id, user } = sessionOf(requestContext);
        const chosen = form.text("new_password");
        try {
          const complaint = passwordError(chosen, user.email);
          if (complaint !== undefined) {
            throw invalidFields([{ pointer: "#/new_password", detail: complaint }]);
          }
          const wrong = await currentPasswordError(requestContext, form.text("current_password"));
          if (wrong !== undefined) {
            throw invalidFields([{ pointer: "#/current_password", detail: wrong }]);
          }
          const passwordHash = await passwords.hash(chosen);
          await writeAs(requestContext, (tx) =>
            changePassword(
              ctx,
              tx,
              { userId: user.id, passwordHash, keepSessionId: id },
              actorOf(requestContext),
            ),
          );
        } catch (error) {
          const passwordComplaints = complaintsOrThrow(error);
          return show({ request, requestContext }, { passwordComplaints });
        }
        return done(
          requestContext,
          ACCOUNT_PATH,
          "Your password was changed. All your other sessions have ended.",
        );
      },
      { ...formBody(), ...screenOperation("Change the own password", SIGNED_IN) },
    )
    .post(
      "/sessions/end",
      async ({ requestContext, body: form }) => {
        const { user } = sessionOf(requestContext);
        const sessionId = Number(form.text("session"));
        const hasEnded = await writeAs(requestContext, (tx) =>
          endOneSession(ctx, tx, user.id, sessionId, actorOf(requestContext)),
        );
        return done(
          requestContext,
          ACCOUNT_PATH,
          hasEnded ? "The session has ended." : "That session had already ended.",
        );
      },
      { ...formBody(), ...screenOperation("End one of the own sessions", SIGNED_IN) },
    )
    .post(
      "/sessions/end-others",
      async ({ requestContext }) => {
        const { id, user } = sessionOf(requestContext);
        await writeAs(requestContext, (tx) =>
          endSessions(ctx, tx, user.id, actorOf(requestContext), id),
        );
        return done(requestContext, ACCOUNT_PATH, "All your other sessions have ended.");
      },
      { ...formBody(), ...screenOperation("End all other sessions", SIGNED_IN) },
    );
}
