import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import type { ClientAddress } from "../../kernel/client-address";
import {
  endSession,
  endSessionsOf,
  listSessionsOf,
  type LiveSession,
  type LoginThrottle,
  type Passwords,
  startSession,
  voidLinks,
} from "../auth";
import { canonicalEmail, isLive, judgeEmail } from "./rules";
import { changeUser, getLiveUserRow, getUserRow, userActor } from "./service";
import { findUser, findUserRowByEmail, setLastLogin, type UserRow } from "./store";

/** Where a session is started from. */
export interface From {
  ip: string;
  userAgent: string;
}

export type Authentication =
  { user: UserRow } | { refusal: "wrong" } | { refusal: "wait"; seconds: number };

/**
 * Whether an email and a password belong together. Who is unknown, disabled or without a password is
 * refused as who has a wrong one, after the same work. Starts nothing: `signIn` does. Throws
 * `unavailable` when too many ask at once.
 */
export async function authenticate(
  ctx: Pick<AppContext, "db" | "log">,
  { passwords, throttle }: { passwords: Passwords; throttle: LoginThrottle },
  given: { email: string; password: string },
  address: ClientAddress,
): Promise<Authentication> {
  const email = canonicalEmail(given.email);
  const seconds = throttle.judge(email, address);
  if (seconds > 0) return { refusal: "wait", seconds };
  const user = findUserRowByEmail(ctx.db, { email });
  const isAdmitted = user !== undefined && isLive(user);
  if ((await passwords.verify(given.password, isAdmitted ? user.passwordHash : null)) && user) {
    throttle.succeeded(email, address);
    return { user };
  }
  throttle.failed(email, address);
  // What is no email may well be a password, typed into the wrong field.
  const known = judgeEmail(email) === undefined ? { email } : {};
  ctx.log.info({ ...known, ip: address.ip }, "a sign-in was refused");
  return { refusal: "wrong" };
}

/**
 * Starts the session of a user who was authenticated, ends the one that the browser had, and answers
 * the new one's token. Throws `conflict` when the user was disabled or the password changed meanwhile.
 */
export function signIn(
  ctx: Pick<AppContext, "clock" | "random">,
  tx: Tx,
  user: UserRow,
  from: From,
  endsSession?: LiveSession,
): string {
  const current = findUser(tx, { id: user.id });
  if (!current || !isLive(current) || current.passwordHash !== user.passwordHash) {
    throw conflict("The account was changed while you signed in. Sign in again.");
  }
  if (endsSession) endSession(tx, endsSession.user.id, endsSession.id);
  const summary = `“${current.name}” signed in`;
  audit(ctx, tx, userActor(current, from.ip), "user.sign_in", current.id, summary);
  return openSession(ctx, tx, current.id, from);
}

/** A new session of a user, noted as their last sign-in. Audited by its caller. */
export function openSession(
  ctx: Pick<AppContext, "clock" | "random">,
  tx: Tx,
  userId: string,
  from: From,
): string {
  setLastLogin(tx, { id: userId, at: ctx.clock.now() });
  return startSession(ctx, tx, userId, from);
}

/**
 * Sets a user's password: all of their sessions end but the one to keep, and their links open nothing
 * any more. Throws `not_found`, or `conflict` when the user is disabled or the session to keep has
 * itself been ended, as another change of the password does.
 */
export function changePassword(
  ctx: Pick<AppContext, "clock" | "newId">,
  tx: Tx,
  userId: string,
  passwordHash: string,
  keepSessionId: number | undefined,
  actor: Actor,
): void {
  const now = ctx.clock.now();
  const user = getLiveUserRow(tx, userId);
  const isKept = ({ id }: LiveSession) => id === keepSessionId;
  if (keepSessionId !== undefined && !listSessionsOf(tx, userId, now).some(isKept)) {
    throw conflict("Your session has ended. Sign in again.");
  }
  changeUser(ctx, tx, user, { passwordHash, passwordChangedAt: now });
  endSessionsOf(tx, userId, keepSessionId);
  voidLinks(tx, { userId });
  audit(ctx, tx, actor, "user.password", userId, `Changed the password of “${user.name}”`);
}

/** Ends all of a user's sessions, or all but one, and answers how many. Throws `not_found`. */
export function endSessions(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  userId: string,
  actor: Actor,
  exceptSessionId?: number,
): number {
  const { name } = getUserRow(tx, userId);
  const count = endSessionsOf(tx, userId, exceptSessionId);
  if (count > 0) {
    const sessions = count === 1 ? "1 session" : `${count} sessions`;
    audit(ctx, tx, actor, "session.end", userId, `Ended ${sessions} of “${name}”`);
  }
  return count;
}

/** Ends one of a user's own sessions. Whether there was one. Throws `not_found` for the user. */
export function endOneSession(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  userId: string,
  sessionId: number,
  actor: Actor,
): boolean {
  const { name } = getUserRow(tx, userId);
  if (!endSession(tx, userId, sessionId)) return false;
  audit(ctx, tx, actor, "session.end", userId, `Ended a session of “${name}”`);
  return true;
}
