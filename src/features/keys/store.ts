import { and, asc, desc, eq, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db";
import { apiKeyHours, apiKeys, apiKeyValues } from "../../db/tables/keys";

export type KeyRow = typeof apiKeys.$inferSelect;
export type KeyValueRow = typeof apiKeyValues.$inferSelect;

export const insertKey = insertInto(apiKeys);
export const updateKeyRow = updateById(apiKeys);
export const insertKeyValue = insertInto(apiKeyValues);

export const findKey = selectOne((orm, $: { id: string }) =>
  orm.select().from(apiKeys).where(eq(apiKeys.id, $.id)),
);

/** Newest first. */
export const listKeys = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(apiKeys).orderBy(desc(apiKeys.id)),
);

// The newest value is the one that no rotation has ended: two can be of the same millisecond.
const NEWEST_VALUE_FIRST = [
  sql`${apiKeyValues.endsAt} IS NOT NULL`,
  desc(apiKeyValues.createdAt),
  asc(apiKeyValues.hash),
];

/** Every value of every key, newest first. */
export const listKeyValues = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select()
    .from(apiKeyValues)
    .orderBy(...NEWEST_VALUE_FIRST),
);

/** The values of one key, newest first. */
export const listValuesOfKey = selectMany((orm, $: { keyId: string }) =>
  orm
    .select()
    .from(apiKeyValues)
    .where(eq(apiKeyValues.keyId, $.keyId))
    .orderBy(...NEWEST_VALUE_FIRST),
);

/** Ends every value of a key that would last longer than `endsAt`. */
export const endValuesOfKey = mutate((orm, $: { keyId: string; endsAt: number }) =>
  orm
    .update(apiKeyValues)
    .set({ endsAt: sql`min(coalesce(${apiKeyValues.endsAt}, ${$.endsAt}), ${$.endsAt})` })
    .where(eq(apiKeyValues.keyId, $.keyId)),
);

/** Never moves backwards: a batch that was written late does not hide a later use. */
export const touchKeyValue = mutate((orm, $: { hash: Buffer; at: number; ip: string }) =>
  orm
    .update(apiKeyValues)
    .set({ lastUsedAt: $.at, lastUsedIp: $.ip })
    .where(
      and(
        eq(apiKeyValues.hash, $.hash),
        sql`(${apiKeyValues.lastUsedAt} IS NULL OR ${apiKeyValues.lastUsedAt} <= ${$.at})`,
      ),
    ),
);

/** Adds to a key's counts of one hour. */
export const addToHour = mutate(
  (orm, $: { keyId: string; hour: number; ok: number; clientError: number; limited: number }) =>
    orm
      .insert(apiKeyHours)
      .select(
        sql`SELECT id, ${$.hour}, ${$.ok}, ${$.clientError}, ${$.limited} FROM ${apiKeys} WHERE id = ${$.keyId}`,
      )
      .onConflictDoUpdate({
        target: [apiKeyHours.keyId, apiKeyHours.hour],
        set: {
          ok: sql`${apiKeyHours.ok} + excluded.ok`,
          clientError: sql`${apiKeyHours.clientError} + excluded.client_error`,
          limited: sql`${apiKeyHours.limited} + excluded.limited`,
        },
      }),
);

export const listKeyHours = selectMany((orm, $: { keyId: string }) =>
  orm
    .select()
    .from(apiKeyHours)
    .where(eq(apiKeyHours.keyId, $.keyId))
    .orderBy(asc(apiKeyHours.hour)),
);
