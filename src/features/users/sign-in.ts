/*
 * Signing in with a password, ending sessions, and changing the password.
 */
import { type Actor, userActor } from "../../base/actor";
import type { ClientAddress } from "../../base/client-address";
import { conflict, Problem } from "../../base/errors";
import { plural } from "../../base/text";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { endLinks } from "../auth/links";
import type { Passwords } from "../auth/passwords";
import {
  endSession,
  endSessionsOf,
  listSessionsOf,
  type LiveSession,
  type SessionOrigin,
  startSession,
  type UserSession,
} from "../auth/sessions";
import { startStep } from "../auth/steps";
import type { LoginThrottle } from "../auth/throttle";
import { mailChangedPassword } from "./mails";
import { canonicalEmail, canUsePassword, isLive } from "./rules";
import { findSecondFactor } from "./second-factor-store";
import { findUser, findUserRowByEmail, setLastLogin, type UserRow } from "./store";
import { changeUser, getLiveUserRow, getUserRow } from "./users";

type Authentication =
  { user: UserRow } | { rejection: "wrong" } | { rejection: "wait"; seconds: number };

/**
 * Finds the user of an email and a password. Unknown and disabled users, and those without a
 * password or who may not sign in with one, are rejected like a wrong password, after the same
 * work. With `isConfirmation` a user who is signed in types the password again. Starts no session:
 * `signIn` does. The caller has taken an attempt of the address before (`takeAttempt`). Throws `unavailable`
 * if too many sources wait.
 */
export async function authenticate(
  ctx: Ctx,
  { passwords, throttle }: { passwords: Pick<Passwords, "verify">; throttle: LoginThrottle },
  input: { email: string; password: string; isConfirmation?: boolean },
  address: ClientAddress,
): Promise<Authentication> {
  const email = canonicalEmail(input.email);
  const seconds = throttle.accountWaitSeconds(email, address);
  if (seconds > 0) return { rejection: "wait", seconds };
  const user = findUserRowByEmail(ctx.db, { email });
  const isEligible =
    user !== undefined &&
    isLive(user) &&
    (input.isConfirmation === true || canUsePassword(ctx.config, user));
  const hash = isEligible ? user.passwordHash : null;
  let isRight: boolean;
  try {
    isRight = await passwords.verify(input.password, hash, throttle.turnOf(address));
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
  // Unknown emails are not logged, since they may be passwords typed into the wrong field.
  const userFields = user ? { email } : {};
  ctx.log.info({ ...userFields, ip: address.ip }, "a sign-in was refused");
  return { rejection: "wrong" };
}

/** Token of a session, or of the step before it, in which a user with a second factor types a code. */
export type SignedIn = { sessionToken: string } | { stepToken: string };

/**
 * Starts the session of an authenticated user, or the step before it. Throws `conflict` if the user
 * was disabled or the password changed meanwhile.
 */
export function signIn(
  ctx: Ctx,
  tx: Tx,
  user: UserRow,
  origin: SessionOrigin,
  replaced?: LiveSession,
): SignedIn {
  const current = findUser(tx, { id: user.id });
  if (!current || !isLive(current) || current.passwordHash !== user.passwordHash) {
    throw conflict("The account was changed while you signed in. Sign in again.");
  }
  const signedIn = startSessionOrStep(ctx, tx, { userId: current.id }, origin, replaced);
  if ("sessionToken" in signedIn) {
    const summary = `“${current.name}” signed in`;
    audit(ctx, tx, userActor(current, origin.ip), "user.sign_in", current.id, summary);
  }
  return signedIn;
}

/**
 * Starts the session of a user whose password is right or was just chosen, or the step before it if the user has a second
 * factor. With `isRecovery`, a link of `allclear user recover` chose it. The caller writes the audit row of a session.
 */
export function startSessionOrStep(
  ctx: Ctx,
  tx: Tx,
  { userId, isRecovery = false }: { userId: string; isRecovery?: boolean },
  origin: SessionOrigin,
  replaced?: LiveSession,
): SignedIn {
  if (findSecondFactor(tx, { userId }))
    return { stepToken: startStep(ctx, tx, userId, isRecovery) };
  return { sessionToken: openSession(ctx, tx, userId, origin, replaced) };
}

/**
 * Starts a session and records the sign-in, replacing the browser's earlier session. The caller
 * writes the audit row.
 */
export function openSession(
  ctx: Ctx,
  tx: Tx,
  userId: string,
  origin: SessionOrigin,
  replaced?: LiveSession,
): string {
  if (replaced) endSession(tx, replaced.user.id, replaced.id);
  setLastLogin(tx, { id: userId, lastLoginAt: ctx.clock.now() });
  return startSession(ctx, tx, userId, origin);
}

/** Throws `conflict` for a user who may have no password, since only owners have one. */
export function requirePasswordUse({ config }: Ctx, user: UserRow): void {
  if (canUsePassword(config, user)) return;
  throw conflict(
    `Only owners have passwords here (ALLCLEAR_LOCAL_SIGN_IN=owners), and “${user.name}” is ${user.role}. On the server, allclear user recover sets one.`,
  );
}

/** Ends all sessions of a user, or all but one, and returns their number. Throws `not_found`. */
export function endSessions(
  ctx: Ctx,
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

/**
 * Ends one of a user's own sessions. Returns true if it existed. Throws `not_found` for the user.
 */
export function endOneSession(
  ctx: Ctx,
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
 * Sets a user's password, ends their sessions except the one to keep, and voids their links. The user gets a mail
 * about it. Throws `not_found`, or `conflict` if the user is disabled or may have no password, or the session to keep
 * has ended.
 */
export function changePassword(
  ctx: Ctx,
  tx: Tx,
  change: { userId: string; passwordHash: string; keepSessionId?: number },
  actor: Actor,
): void {
  const { userId, passwordHash, keepSessionId } = change;
  const now = ctx.clock.now();
  const user = getLiveUserRow(tx, userId);
  requirePasswordUse(ctx, user);
  const isKept = ({ id }: UserSession) => id === keepSessionId;
  if (keepSessionId !== undefined && !listSessionsOf(tx, userId, now).some(isKept)) {
    throw conflict("Your session has ended. Sign in again.");
  }
  changeUser(ctx, tx, user, { passwordHash, passwordChangedAt: now });
  endSessionsOf(tx, userId, keepSessionId);
  endLinks(tx, { userId });
  audit(ctx, tx, actor, "user.password", userId, `Changed the password of “${user.name}”`);
  if (user.passwordHash === null) return;
  mailChangedPassword(ctx, tx, user, actor.kind === "user" ? "account" : "command");
}
