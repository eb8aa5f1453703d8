/*
 * The step between a right password and a code: found by a token, ended by the code, the fifth wrong one, or after ten
 * minutes. Its token gives no other access.
 */
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { isUnexpired, STEP_MS } from "./rules";
import { generateToken, hashToken } from "./sessions";
import {
  deleteOldestSteps,
  deleteStep,
  deleteStepsOfUser,
  findStepRow,
  insertStep,
  setTries,
} from "./store";

const TRIES = 5;

const STEPS_OF_A_USER = 50;

/** User of a step. */
interface Step {
  userId: string;
  /** True after a link of `allclear user recover`, which signs in even where only owners may use a password. */
  isRecovery: boolean;
}

/**
 * Starts the step of a user whose password was right, and returns its token, which is not stored. A user has at most 50;
 * the oldest ones end. Throws if the user does not exist.
 */
export function startStep(ctx: Ctx, tx: Tx, userId: string, isRecovery = false): string {
  const token = generateToken(ctx.random);
  const expiresAt = ctx.clock.now() + STEP_MS;
  deleteOldestSteps(tx, { userId, kept: STEPS_OF_A_USER - 1 });
  const hash = hashToken(token) as Buffer;
  insertStep(tx, { hash, userId, tries: 0, expiresAt, isRecovery });
  return token;
}

/** Finds a step that is open at `now` (unix ms). */
export function findStep(reader: Reader, token: string, now: number): Step | undefined {
  const hash = hashToken(token);
  const row = hash && findStepRow(reader, { hash });
  if (!row || !isUnexpired(row, now)) return undefined;
  return { userId: row.userId, isRecovery: row.isRecovery };
}

/** Counts a wrong code. Returns the number of tries that are left; after the last one the step has ended. */
export function countTry(tx: Tx, token: string): number {
  const hash = hashToken(token);
  const row = hash && findStepRow(tx, { hash });
  if (!row) return 0;
  const tries = row.tries + 1;
  if (tries < TRIES) setTries(tx, { hash: row.hash, tries });
  else deleteStep(tx, row);
  return TRIES - tries;
}

/** Ends all steps of a user. */
export function endStepsOf(tx: Tx, userId: string): void {
  deleteStepsOfUser(tx, { userId });
}

/** Ends a step. */
export function endStep(tx: Tx, token: string): void {
  const hash = hashToken(token);
  if (hash) deleteStep(tx, { hash });
}
