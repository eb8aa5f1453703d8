/*
 * Second factors: turning them on and off, the code that ends a sign-in, and recovery codes. A code works once: the period
 * of the last one is stored in the transaction that uses it.
 */
import { type Actor, userActor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { endSessionsOf, type LiveSession, type SessionOrigin } from "../auth/sessions";
import { countTry, endStep, findStep } from "../auth/steps";
import {
  createRecoveryCodes,
  hashRecoveryCode,
  readSecret,
  RECOVERY_CODES,
  periodOfCode,
} from "../auth/totp";
import { mailSecondFactor } from "./mails";
import { afterWrongCode, canUsePassword, isLive, type TypedCode } from "./rules";
import {
  countRecoveryCodes,
  deleteRecoveryCode,
  deleteRecoveryCodes,
  deleteSecondFactor,
  findSecondFactor,
  insertRecoveryCodes,
  insertSecondFactor,
  type SecondFactorRow,
  setLastPeriod,
  setWrongCodes,
} from "./second-factor-store";
import { openSession } from "./sign-in";
import { findUser, type UserRow } from "./store";
import { changeUser, getLiveUserRow } from "./users";

/** Second factor as screens show it. Times in unix ms. */
export interface SecondFactor {
  since: number;
  /** Number of recovery codes that are not used yet. */
  recoveryCodes: number;
}

/** Returns the second factor of a user; undefined without one. */
export function readSecondFactor(reader: Reader, userId: string): SecondFactor | undefined {
  const row = findSecondFactor(reader, { userId });
  if (!row) return undefined;
  return { since: row.createdAt, recoveryCodes: recoveryCodesLeft(reader, userId) };
}

function recoveryCodesLeft(reader: Reader, userId: string): number {
  return countRecoveryCodes(reader, { userId })?.count ?? 0;
}

/** Rejection of a code. `until` is the end of a pause, from which on codes are accepted again (unix ms). */
export type CodeRejection =
  | { rejection: "wrong"; isRecoveryCode?: true }
  /** The code was right and has been used. */
  | { rejection: "used" }
  | { rejection: "paused"; until: number };

/** Rejection of a code of a sign-in, which may have ended with it. */
type SignInRejection = CodeRejection | { rejection: "ended"; isByTries: boolean };

/**
 * Uses a code, which ends the step of a sign-in and starts the session, replacing the browser's earlier one. Rejections
 * are counted, so the transaction must be committed.
 */
export function signInWithCode(
  ctx: Ctx,
  tx: Tx,
  { token, typed }: { token: string; typed: TypedCode },
  origin: SessionOrigin,
  replaced?: LiveSession,
): { sessionToken: string } | SignInRejection {
  const step = findStep(tx, token, ctx.clock.now());
  const user = step && findUser(tx, { id: step.userId });
  // Disabling and a new role end the step, a restart with other options does not.
  if (!user || !isLive(user) || (!step.isRecovery && !canUsePassword(ctx.config, user))) {
    return { rejection: "ended", isByTries: false };
  }
  const actor = userActor(user, origin.ip);
  const outcome = takeCode(ctx, tx, user, typed, actor);
  if ("rejection" in outcome) {
    if (outcome.rejection === "paused") return outcome;
    return countTry(tx, token) > 0 ? outcome : { rejection: "ended", isByTries: true };
  }
  endStep(tx, token);
  const summary = `“${user.name}” signed in with ${outcome.with}`;
  audit(ctx, tx, actor, "user.sign_in", user.id, summary);
  return { sessionToken: openSession(ctx, tx, user.id, origin, replaced) };
}

/**
 * Uses up a code with which a user who is signed in confirms something. Rejections are counted, so the transaction must be
 * committed. Returns undefined on success.
 */
export function confirmByCode(
  ctx: Ctx,
  tx: Tx,
  { userId, typed }: { userId: string; typed: TypedCode },
  actor: Actor,
): CodeRejection | undefined {
  const outcome = takeCode(ctx, tx, getLiveUserRow(tx, userId), typed, actor);
  return "rejection" in outcome ? outcome : undefined;
}

/** Decides about a code and uses it up if it is right. Writes the wrong ones too. */
function takeCode(
  ctx: Ctx,
  tx: Tx,
  user: UserRow,
  typed: TypedCode,
  actor: Actor,
): { with: string } | CodeRejection {
  const factor = findSecondFactor(tx, { userId: user.id });
  if (!factor) return { rejection: "wrong" };
  if ("recoveryCode" in typed) return takeRecoveryCode(ctx, tx, user, typed.recoveryCode);
  const now = ctx.clock.now();
  if (now < factor.pausedUntil) return { rejection: "paused", until: factor.pausedUntil };
  const lastPeriod = periodOfCode(factor.secret, typed.code, now);
  if (lastPeriod === undefined) return countWrongCode(ctx, tx, user, factor, actor);
  // Not counted as a guess: the code was seen by someone else, or a form was sent twice.
  if (lastPeriod <= factor.lastPeriod) return { rejection: "used" };
  // Wrong codes of the hour still count. Otherwise a guesser could wait for the user to sign in.
  setLastPeriod(tx, { userId: user.id, lastPeriod });
  return { with: "a code" };
}

/** Uses up a recovery code. Wrong ones are not counted by the hour, since 80 random bits cannot be guessed. */
function takeRecoveryCode(
  ctx: Ctx,
  tx: Tx,
  user: UserRow,
  recoveryCode: string,
): { with: string } | CodeRejection {
  const hash = hashRecoveryCode(recoveryCode);
  if (deleteRecoveryCode(tx, { userId: user.id, hash }) === 0) {
    return { rejection: "wrong", isRecoveryCode: true };
  }
  // A restore finds by the version that the code was used.
  changeUser(ctx, tx, user, {});
  const left = recoveryCodesLeft(tx, user.id);
  mailSecondFactor(ctx, tx, user, { change: "recovery_code_used", left });
  return { with: `a recovery code, ${plural(left, "recovery code")} left` };
}

function countWrongCode(
  ctx: Ctx,
  tx: Tx,
  user: UserRow,
  factor: SecondFactorRow,
  actor: Actor,
): CodeRejection {
  const counted = afterWrongCode(factor, ctx.clock.now());
  setWrongCodes(tx, { userId: user.id, ...counted });
  ctx.log.info({ email: user.email, ip: actor.ip }, "a code was refused");
  const until = counted.pausedUntil;
  if (until === factor.pausedUntil) return { rejection: "wrong" };
  const summary = `Ten wrong codes of “${user.name}” within an hour: codes are refused until ${toIso(until)}`;
  audit(ctx, tx, actor, "user.codes_refused", user.id, summary);
  mailSecondFactor(ctx, tx, user, { change: "codes_refused", until });
  return { rejection: "paused", until };
}

/**
 * Turns on the second factor of a user whose app has the secret, as a code shows, and returns the recovery codes, which
 * are not stored. All sessions of the user but one end. Throws `conflict` if it is on.
 */
export function turnOnSecondFactor(
  ctx: Ctx,
  tx: Tx,
  { userId, secret, code }: { userId: string; secret: string; code: string },
  actor: Actor,
  keepSessionId: number,
): string[] | { rejection: "wrong" } {
  const user = getLiveUserRow(tx, userId);
  if (findSecondFactor(tx, { userId })) {
    throw conflict("Your second factor is on already. Account can make new recovery codes.");
  }
  const now = ctx.clock.now();
  const bytes = readSecret(secret);
  const lastPeriod = bytes && periodOfCode(bytes, code, now);
  if (bytes === undefined || lastPeriod === undefined) return { rejection: "wrong" };
  insertSecondFactor(tx, {
    userId,
    secret: bytes,
    // The code of the set-up is used up too.
    lastPeriod,
    wrongCodes: [],
    pauses: 0,
    pausedUntil: 0,
    createdAt: now,
  });
  changeUser(ctx, tx, user, {});
  // They were started without a code.
  endSessionsOf(tx, userId, keepSessionId);
  const codes = addRecoveryCodes(ctx, tx, userId);
  audit(ctx, tx, actor, "user.second_factor_on", userId, `Turned on ${factorOf(user)}`);
  mailSecondFactor(ctx, tx, user, { change: "on" });
  return codes;
}

function factorOf({ name }: UserRow): string {
  return `the second factor of “${name}”`;
}

function addRecoveryCodes(ctx: Ctx, tx: Tx, userId: string): string[] {
  const codes = createRecoveryCodes(ctx.random);
  insertRecoveryCodes(
    tx,
    codes.map((code) => ({ hash: hashRecoveryCode(code), userId })),
  );
  return codes;
}

/**
 * Turns off the user's own second factor with a code. Rejections are counted, so the transaction must be committed.
 * Returns undefined on success.
 */
export function turnOffSecondFactor(
  ctx: Ctx,
  tx: Tx,
  { userId, typed }: { userId: string; typed: TypedCode },
  actor: Actor,
): CodeRejection | undefined {
  const user = getLiveUserRow(tx, userId);
  const outcome = takeCode(ctx, tx, user, typed, actor);
  if ("rejection" in outcome) return outcome;
  deleteSecondFactor(tx, { userId });
  changeUser(ctx, tx, getLiveUserRow(tx, userId), {});
  audit(ctx, tx, actor, "user.second_factor_off", userId, `Turned off ${factorOf(user)}`);
  mailSecondFactor(ctx, tx, user, { change: "off" });
  return undefined;
}

/**
 * Replaces the recovery codes of a user with a code, and returns the new ones. Rejections are counted, so the transaction
 * must be committed.
 */
export function replaceRecoveryCodes(
  ctx: Ctx,
  tx: Tx,
  { userId, typed }: { userId: string; typed: TypedCode },
  actor: Actor,
): string[] | CodeRejection {
  const user = getLiveUserRow(tx, userId);
  const outcome = takeCode(ctx, tx, user, typed, actor);
  if ("rejection" in outcome) return outcome;
  deleteRecoveryCodes(tx, { userId });
  const codes = addRecoveryCodes(ctx, tx, userId);
  changeUser(ctx, tx, getLiveUserRow(tx, userId), {});
  const summary = `Created ${plural(RECOVERY_CODES, "recovery code")} of “${user.name}”`;
  audit(ctx, tx, actor, "user.recovery_codes", userId, summary);
  mailSecondFactor(ctx, tx, user, { change: "recovery_codes_created" });
  return codes;
}
