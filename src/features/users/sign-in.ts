import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict, Problem } from "../../errors";
import { audit } from "../../events";
import { userActor, type Actor } from "../../domain/actor";
import type { ClientAddress } from "../../kernel/client-address";
import { plural } from "../../kernel/text";
import {
  endSession,
  type LiveSession,
  type LoginThrottle,
  type Passwords,
  type SessionOrigin,
  startSession,
  endSessionsOf,
  listSessionsOf,
  voidLinks,
} from "../auth";
import { canonicalEmail, isLive } from "./rules";
import { findUser, findUserRowByEmail, setLastLogin, type UserRow } from "./store";
import { getUserRow, changeUser, getLiveUserRow } from "./service";

type Authentication =
  { user: UserRow } | { rejection: "wrong" } | { rejection: "wait"; seconds: number };

/**
 * Finds the user to whom an email and a password belong. An unknown or disabled user and one without a
 * password are refused as a wrong password is, after the same work. Starts no session: `signIn` does.
 * The caller has taken one of the address's attempts before (`takeAttempt`). Throws `unavailable` when
 * too many sources wait.
 */
export async function authenticate(
  ctx: Pick<AppContext, "db" | "log">,
  { passwords, throttle }: { passwords: Passwords; throttle: LoginThrottle },
  given: { email: string; password: string },
  address: ClientAddress,
): Promise<Authentication> {
  const email = canonicalEmail(given.email);
  const seconds = throttle.accountWaitSeconds(email, address);
  if (seconds > 0) return { rejection: "wait", seconds };
  const user = findUserRowByEmail(ctx.db, { email });
  const isAdmitted = user !== undefined && isLive(user);
  const hash = isAdmitted ? user.passwordHash : null;
  let isRight: boolean;
  try {
    isRight = await passwords.verify(given.password, hash, throttle.turnOf(address));
  } catch (error) {
    if (error instanceof Problem && error.code === "rate_limited") {
      return { rejection: "wait", seconds: 1 };
    }
    throw error;
  }
  if (isRight && user) {
    throttle.succeeded(email, address);
    return { user };
  }
  throttle.failed(email, address);
  // What is nobody's email may well be a password, typed into the wrong field.
  const known = user ? { email } : {};
  ctx.log.info({ ...known, ip: address.ip }, "a sign-in was refused");
  return { rejection: "wrong" };
}

/**
 * Starts the session of a user who was authenticated, in the place of the one that the browser had,
 * and answers its token. Throws `conflict` when the user was disabled or the password changed meanwhile.
 */
export function signIn(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "random">,
  tx: Tx,
  user: UserRow,
  origin: SessionOrigin,
  replaced?: LiveSession,
): string {
  const current = findUser(tx, { id: user.id });
  if (!current || !isLive(current) || current.passwordHash !== user.passwordHash) {
    throw conflict("The account was changed while you signed in. Sign in again.");
  }
  const summary = `“${current.name}” signed in`;
  audit(ctx, tx, userActor(current, origin.ip), "user.sign_in", current.id, summary);
  return openSession(ctx, tx, current.id, origin, replaced);
}

/**
 * A new session of a user, noted as their last sign-in, in the place of the one that the browser had
 * before. Audited by its caller.
 */
export function openSession(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "random">,
  tx: Tx,
  userId: string,
  origin: SessionOrigin,
  replaced?: LiveSession,
): string {
  if (replaced) endSession(tx, replaced.user.id, replaced.id);
  setLastLogin(tx, { id: userId, at: ctx.clock.now() });
  return startSession(ctx, tx, userId, origin);
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
    audit(ctx, tx, actor, "session.end", userId, `Ended ${plural(count, "session")} of “${name}”`);
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

/**
 * Sets a user's password: all of their sessions end but the one to keep, and their links open nothing
 * any more. Throws `not_found`, or `conflict` when the user is disabled or the session to keep has
 * itself been ended, as another change of the password does.
 */
export function changePassword(
  ctx: Pick<AppContext, "clock" | "newId">,
  tx: Tx,
  change: { userId: string; passwordHash: string; keepSessionId?: number },
  actor: Actor,
): void {
  const { userId, passwordHash, keepSessionId } = change;
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
