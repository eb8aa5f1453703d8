import type { Tx } from "../../db";
import { Problem } from "../../errors";
import type { Clock } from "../../kernel/clock";
import { DAY_MS } from "../../kernel/time";
import { deleteAnswer, deleteAnswersUntil, findAnswer, insertAnswer } from "./store";

const ROWS_AT_ONCE = 500;

/** Identity of a request. The API key may be rotated between repetitions. */
interface StoredRequest {
  /** The id of the API key that sent it. */
  keyId: string;
  path: string;
  /** SHA-256 of the Idempotency-Key. */
  idempotencyHash: Buffer;
  /** SHA-256 of the body's bytes as they were sent. */
  bodyHash: Buffer;
}

/** A successful answer. */
export interface Answer {
  status: number;
  location: string;
  body: string;
  /** Body without secrets that is stored for repetitions. The body itself if omitted. */
  keptBody?: string;
}

/** Response to send: a new one, or the stored one. */
interface OnceAnswer {
  status: number;
  location: string;
  body: string;
  isReplayed: boolean;
}

/**
 * The kept answer to a request that was sent before, or else the one that `make` gives, which is then
 * kept for 24 hours in the same transaction. What `make` throws leaves nothing kept. Throws
 * `idempotency_mismatch` if the request was sent before with another body.
 */
export function answerOnce(
  ctx: { clock: Clock },
  tx: Tx,
  { bodyHash, ...name }: StoredRequest,
  make: () => Answer,
): OnceAnswer {
  const now = ctx.clock.now();
  const kept = findAnswer(tx, name);
  if (kept && now - kept.at < DAY_MS) {
    if (!kept.bodyHash.equals(bodyHash)) throw mismatch();
    const { status, location, body } = kept;
    return { status, location: location ?? "", body, isReplayed: true };
  }
  const { keptBody, ...answer } = make();
  if (kept) deleteAnswer(tx, name);
  const { status, location, body } = answer;
  insertAnswer(tx, { ...name, bodyHash, status, location, body: keptBody ?? body, at: now });
  return { ...answer, isReplayed: false };
}

function mismatch(): Problem {
  return new Problem(
    "idempotency_mismatch",
    "This Idempotency-Key came with another body before. Nothing was changed; use a new key for another request.",
  );
}

/**
 * Forgets at most 500 of the answers that are older than a day, so that no transaction grows long.
 * Answers whether there may be more. `now` in unix ms.
 */
export function sweepAnswers(tx: Tx, now: number): boolean {
  return deleteAnswersUntil(tx, { until: now - DAY_MS, limit: ROWS_AT_ONCE }) === ROWS_AT_ONCE;
}
