import { and, eq, lte, sql } from "drizzle-orm";
import { insertInto, mutate, selectOne } from "../../db/statements";
import { idempotentAnswers } from "../../db/tables/idempotency";

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

export const insertAnswer = insertInto(idempotentAnswers);

export const findAnswer = selectOne((orm, $: Name) =>
  orm.select().from(idempotentAnswers).where(isNamed($)),
);

export const deleteAnswer = mutate((orm, $: Name) =>
  orm.delete(idempotentAnswers).where(isNamed($)),
);

/** Deletes at most `limit` of the answers stored at `until` or before, oldest first. */
export const deleteAnswersUntil = mutate((orm, $: { until: number; limit: number }) => {
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
