import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict, Problem } from "../../errors";
import { audit } from "../../events";
import { userActor } from "../../domain/actor";
import type { ClientAddress } from "../../kernel/client-address";
import {
  endSession,
  type LiveSession,
  type LoginThrottle,
  type Passwords,
  type SessionOrigin,
  startSession,
} from "../auth";
import { canonicalEmail, isLive } from "./rules";
import { findUser, findUserRowByEmail, setLastLogin, type UserRow } from "./store";

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
