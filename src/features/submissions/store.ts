import { eq, lt, sql } from "drizzle-orm";
import type { Clock } from "../../base/clock";
import { sha256 } from "../../base/hash";
import { DAY_MS } from "../../base/time";
import { insertInto, mutate, selectOne, type Tx } from "../../db/statements";
import { formSubmissions } from "../../db/tables/repeats";

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

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
