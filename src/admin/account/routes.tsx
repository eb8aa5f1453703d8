import { Elysia } from "elysia";
import { invalidFields } from "../../errors";
import { judgePassword, listSessionsOf } from "../../features/auth";
import {
  authenticate,
  changePassword,
  endOneSession,
  endSessions,
  getUser,
  renameUser,
} from "../../features/users";
import { type Admission, actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import type { AdminParts } from "../parts";
import { ACCOUNT_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { waitText } from "../wait-text";
import { Account } from "./account";

/** Settings → Account. */
export function accountAdminRoutes(parts: AdminParts) {
  const { ctx, admissions, render, passwords, throttle, writeAs } = parts;
  const done = createDone(parts.flashes);
  const SIGNED_IN = session("viewer");

  function show(
    at: ScreenRequest,
    wrong: {
      name?: string;
      nameComplaints?: Complaints;
      passwordComplaints?: Complaints;
    } = {},
  ) {
    const { id, user } = sessionOf(at.admission);
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

  /** What is wrong with the current password as it was typed, if anything is. */
  async function judgeCurrent(admission: Admission, password: string): Promise<string | undefined> {
    const { address } = admission;
    const { email } = sessionOf(admission).user;
    const seconds = throttle.takeAttempt(address);
    if (seconds > 0) return waitText(seconds);
    const credentials = { email, password };
    const outcome = await authenticate(ctx, { passwords, throttle }, credentials, address);
    if (!("refusal" in outcome)) return undefined;
    return outcome.refusal === "wrong" ? "is wrong" : waitText(outcome.seconds);
  }

  return new Elysia({ prefix: ACCOUNT_PATH })
    .use(admissions.plugin)
    .get(
      "",
      async ({ request, admission }) => show({ request, admission }),
      screenOperation("The user's own account", SIGNED_IN),
    )
    .post(
      "/name",
      async ({ request, admission, body: form }) => {
        const name = form.text("name");
        const { user } = sessionOf(admission);
        let isChanged: boolean;
        try {
          isChanged = await writeAs(admission, (tx) => {
            const before = getUser(tx, user.id).name;
            return renameUser(ctx, tx, user.id, name.trim(), actorOf(admission)).name !== before;
          });
        } catch (error) {
          const nameComplaints = complaintsOrThrow(error);
          return show({ request, admission }, { name, nameComplaints });
        }
        return done(admission, ACCOUNT_PATH, isChanged ? "Your name was changed." : undefined);
      },
      { ...formBody(), ...screenOperation("Change the own name", SIGNED_IN) },
    )
    .post(
      "/password",
      async ({ request, admission, body: form }) => {
        const { id, user } = sessionOf(admission);
        const chosen = form.text("new_password");
        try {
          const complaint = judgePassword(chosen, user.email);
          if (complaint !== undefined) {
            throw invalidFields([{ pointer: "#/new_password", detail: complaint }]);
          }
          const wrong = await judgeCurrent(admission, form.text("current_password"));
          if (wrong !== undefined) {
            throw invalidFields([{ pointer: "#/current_password", detail: wrong }]);
          }
          const passwordHash = await passwords.hash(chosen);
          await writeAs(admission, (tx) =>
            changePassword(
              ctx,
              tx,
              { userId: user.id, passwordHash, keepSessionId: id },
              actorOf(admission),
            ),
          );
        } catch (error) {
          const passwordComplaints = complaintsOrThrow(error);
          return show({ request, admission }, { passwordComplaints });
        }
        return done(
          admission,
          ACCOUNT_PATH,
          "Your password was changed. All your other sessions have ended.",
        );
      },
      { ...formBody(), ...screenOperation("Change the own password", SIGNED_IN) },
    )
    .post(
      "/sessions/end",
      async ({ admission, body: form }) => {
        const { user } = sessionOf(admission);
        const sessionId = Number(form.text("session"));
        const hasEnded = await writeAs(admission, (tx) =>
          endOneSession(ctx, tx, user.id, sessionId, actorOf(admission)),
        );
        return done(
          admission,
          ACCOUNT_PATH,
          hasEnded ? "The session has ended." : "That session had already ended.",
        );
      },
      { ...formBody(), ...screenOperation("End one of the own sessions", SIGNED_IN) },
    )
    .post(
      "/sessions/end-others",
      async ({ admission }) => {
        const { id, user } = sessionOf(admission);
        await writeAs(admission, (tx) => endSessions(ctx, tx, user.id, actorOf(admission), id));
        return done(admission, ACCOUNT_PATH, "All your other sessions have ended.");
      },
      { ...formBody(), ...screenOperation("End all other sessions", SIGNED_IN) },
    );
}
