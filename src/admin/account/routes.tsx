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
import {
  type Admission,
  actorOf,
  formBody,
  operation,
  seeOther,
  session,
  sessionOf,
} from "../../http";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../form-errors";
import { type AdminParts, screen } from "../parts";
import type { ScreenRequest } from "../screens";
import { Account, ACCOUNT_PATH } from "./account";

/** Settings → Account. */
export function accountScreens(parts: AdminParts) {
  const { ctx, admissions, screens, flashes, passwords, throttle } = parts;
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
    return screens.show(at, {
      title: "Account",
      status: statusOf({ ...nameComplaints, ...passwordComplaints }),
      children: <Account {...page} currentSessionId={id} />,
    });
  }

  function done(admission: Admission, text: string): Response {
    flashes.put(sessionOf(admission).id, { tone: "success", text });
    return seeOther(ACCOUNT_PATH);
  }

  /** What is wrong with the present password as it was typed, if anything is. */
  async function judgeCurrent(admission: Admission, password: string): Promise<string | undefined> {
    const { email } = sessionOf(admission).user;
    const outcome = await authenticate(
      ctx,
      { passwords, throttle },
      { email, password },
      admission.address,
    );
    if (!("refusal" in outcome)) return undefined;
    return outcome.refusal === "wrong"
      ? "is not your password"
      : `was wrong too often; wait ${outcome.seconds} seconds, then try again`;
  }

  return new Elysia({ prefix: ACCOUNT_PATH })
    .use(admissions.plugin)
    .get(
      "",
      async ({ request, admission }) => show({ request, admission }),
      operation(screen("The user's own account", SIGNED_IN)),
    )
    .post(
      "/name",
      async ({ request, admission, body: form }) => {
        const name = form.text("name");
        const { user } = sessionOf(admission);
        try {
          await ctx.db.write((tx) => renameUser(ctx, tx, user.id, name, actorOf(admission)));
        } catch (error) {
          const nameComplaints = complaintsOrThrow(error);
          return show({ request, admission }, { name, nameComplaints });
        }
        return done(admission, "Your name was changed.");
      },
      { ...formBody(), ...operation(screen("Change the own name", SIGNED_IN)) },
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
          const hash = await passwords.hash(chosen);
          await ctx.db.write((tx) =>
            changePassword(ctx, tx, user.id, hash, id, actorOf(admission)),
          );
        } catch (error) {
          const passwordComplaints = complaintsOrThrow(error);
          return show({ request, admission }, { passwordComplaints });
        }
        return done(admission, "Your password was changed. All your other sessions have ended.");
      },
      { ...formBody(), ...operation(screen("Change the own password", SIGNED_IN)) },
    )
    .post(
      "/sessions/end",
      async ({ admission, body: form }) => {
        const { user } = sessionOf(admission);
        const sessionId = Number(form.text("session"));
        const hasEnded = await ctx.db.write((tx) =>
          endOneSession(ctx, tx, user.id, sessionId, actorOf(admission)),
        );
        return done(admission, hasEnded ? "The session has ended." : "It had ended already.");
      },
      { ...formBody(), ...operation(screen("End one of the own sessions", SIGNED_IN)) },
    )
    .post(
      "/sessions/end-others",
      async ({ admission }) => {
        const { id, user } = sessionOf(admission);
        await ctx.db.write((tx) => endSessions(ctx, tx, user.id, actorOf(admission), id));
        return done(admission, "All your other sessions have ended.");
      },
      { ...formBody(), ...operation(screen("End all other sessions", SIGNED_IN)) },
    );
}
