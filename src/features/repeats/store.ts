/*
 * Repeated requests have one effect: `answerOnce` for requests of the API with an idempotency key, `makeOnce` for
 * forms of the dashboard. What is kept for them is deleted after a day.
 */
import { and, eq, lt, lte, sql } from "drizzle-orm";
import type { Clock } from "../../base/clock";
import { Problem } from "../../base/errors";
import { sha256 } from "../../base/hash";
import { DAY_MS } from "../../base/time";
import { insertInto, mutate, selectOne, type Tx } from "../../db/statements";
import { formSubmissions, idempotentAnswers } from "../../db/tables/repeats";

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

/** Identity of a request. The API key may be rotated between repetitions. */
interface StoredRequest {
  /** Id of the API key. */
  keyId: string;
  path: string;
  /** SHA-256 of the Idempotency-Key. */
  idempotencyHash: Buffer;
  /** SHA-256 of the bytes of the body. */
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
 * Returns the stored answer to an earlier request, or that of `make`, which is stored for 24 hours
 * in the same transaction. If `make` throws, nothing is stored. Throws `idempotency_mismatch` for
 * an earlier request with another body.
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
 * Deletes answers older than a day, at most 500 per call, to keep the transaction short. Returns
 * true if there may be more. `now` in unix ms.
 */
export function sweepAnswers(tx: Tx, now: number): boolean {
  return deleteAnswersUntil(tx, { until: now - DAY_MS, limit: ROWS_PER_BATCH }) === ROWS_PER_BATCH;
}

interface Name {
  keyId: string;
  path: string;
  idempotencyHash: Buffer;
}

const isNamed = ($: Name) =>
  and(
    eq(idempotentAnswers.keyId, $.keyId),
    eq(idempotentAnswers.path, $.path),
    eq(idempotentAnswers.idempotencyHash, $.idempotencyHash),
  );

const insertAnswer = insertInto(idempotentAnswers);

const findAnswer = selectOne((orm, $: Name) =>
  orm.select().from(idempotentAnswers).where(isNamed($)),
);

const deleteAnswer = mutate((orm, $: Name) => orm.delete(idempotentAnswers).where(isNamed($)));

/** Deletes at most `limit` of the answers stored at `until` or before, oldest first. */
const deleteAnswersUntil = mutate((orm, $: { until: number; limit: number }) => {
  const { keyId, path, idempotencyHash, at } = idempotentAnswers;
  const old = orm
    .select({ keyId, path, idempotencyHash })
    .from(idempotentAnswers)
    .where(lte(at, $.until))
    .orderBy(at)
    .limit($.limit);
  return orm
    .delete(idempotentAnswers)
    .where(sql`(${keyId}, ${path}, ${idempotencyHash}) IN ${old}`);
});

/** Object that a form created, now or when it was first submitted. */
export type MadeOnce<Made> = { made: Made; subjectId: string } | { made: null; subjectId: string };

/**
 * Runs `make`, unless the same form of the same session did so before. `digest` identifies a form:
 * it covers all sent fields, including a random one of each display.
 */
export function makeOnce<Made>(
  ctx: { clock: Clock },
  tx: Tx,
  form: { sessionId: number; digest: string },
  make: () => { made: Made; subjectId: string },
): MadeOnce<Made> {
  const hash = sha256(`${form.sessionId}\n${form.digest}`);
  const before = findSubmission(tx, { hash });
  if (before) return { made: null, subjectId: before.subjectId };
  const answer = make();
  insertSubmission(tx, { hash, subjectId: answer.subjectId, at: ctx.clock.now() });
  return answer;
}

/** Deletes forms older than a day, at most 500 per call. Returns true if there may be more. */
export function sweepSubmissions(tx: Tx, now: number): boolean {
  const limit = ROWS_PER_BATCH;
  return deleteSubmissionsBefore(tx, { at: now - DAY_MS, limit }) === limit;
}

const insertSubmission = insertInto(formSubmissions);

const findSubmission = selectOne((orm, $: { hash: Buffer }) =>
  orm.select().from(formSubmissions).where(eq(formSubmissions.hash, $.hash)),
);

/** Deletes forms sent before `at`, at most `limit`. */
const deleteSubmissionsBefore = mutate((orm, $: { at: number; limit: number }) =>
  orm
    .delete(formSubmissions)
    .where(
      sql`${formSubmissions.hash} IN ${orm
        .select({ hash: formSubmissions.hash })
        .from(formSubmissions)
        .where(lt(formSubmissions.at, $.at))
        .limit($.limit)}`,
    ),
);
