import { and, asc, desc, eq, gt, gte, isNotNull, lt, sql } from "drizzle-orm";
import { DAY_MS } from "../../base/time";
import { findBy, listBy } from "../../db/rows";
import {
  insertInto,
  isAmong,
  mutate,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { apiKeyHours, apiKeys, apiKeyValues } from "../../db/tables/keys";

export type KeyRow = typeof apiKeys.$inferSelect;
export type KeyValueRow = typeof apiKeyValues.$inferSelect;

export const insertKey = insertInto(apiKeys);
export const updateKeyRow = updateById(apiKeys);
export const insertKeyValue = insertInto(apiKeyValues);

export const findKey = findBy(apiKeys, ["id"]);

/** Lists all keys, newest first. */
export const listKeys = listBy(apiKeys, [], { order: [desc(apiKeys.id)] });

// The newest value has no end. Times alone do not decide, since two values can be of the same
// millisecond.
const NEWEST_VALUE_FIRST = [
  sql`${apiKeyValues.endsAt} IS NOT NULL`,
  desc(apiKeyValues.createdAt),
  asc(apiKeyValues.hash),
];

/** Lists the values of all keys, newest first. */
export const listKeyValues = listBy(apiKeyValues, [], { order: NEWEST_VALUE_FIRST });

/** Finds the key of a value by the SHA-256 of the value. */
export const findKeyValue = findBy(apiKeyValues, ["hash"]);

/** Lists the values of one key, newest first. */
export const listValuesOfKey = listBy(apiKeyValues, ["keyId"], { order: NEWEST_VALUE_FIRST });

/** Ends every value of a key that would last longer than `endsAt`. */
export const endValuesOfKey = mutate((orm, $: { keyId: string; endsAt: number }) =>
  orm
    .update(apiKeyValues)
    .set({ endsAt: sql`min(coalesce(${apiKeyValues.endsAt}, ${$.endsAt}), ${$.endsAt})` })
    .where(eq(apiKeyValues.keyId, $.keyId)),
);

/** Ends at `now` the values of a key that a rotation has given an end and that still work. */
export const endOldValuesOfKey = mutate((orm, $: { keyId: string; now: number }) =>
  orm
    .update(apiKeyValues)
    .set({ endsAt: sql`${$.now}` })
    .where(and(eq(apiKeyValues.keyId, $.keyId), gt(apiKeyValues.endsAt, $.now))),
);

/** Writes the last use of a value. Never moves it back, since batches can be written late. */
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

/** Adds counts to those of an hour that exists. */
const ADD_COUNTS = {
  target: [apiKeyHours.keyId, apiKeyHours.hour],
  set: {
    ok: sql`${apiKeyHours.ok} + excluded.ok`,
    clientError: sql`${apiKeyHours.clientError} + excluded.client_error`,
    limited: sql`${apiKeyHours.limited} + excluded.limited`,
  },
};

/** Adds to a key's counts of one hour. */
export const addToHour = mutate(
  (orm, $: { keyId: string; hour: number; ok: number; clientError: number; limited: number }) =>
    orm
      .insert(apiKeyHours)
      .select(
        sql`SELECT id, ${$.hour}, ${$.ok}, ${$.clientError}, ${$.limited} FROM ${apiKeys} WHERE id = ${$.keyId}`,
      )
      .onConflictDoUpdate(ADD_COUNTS),
);

/** Finds the highest number that follows `start` in the name of a key; null without such a name. */
export const findHighestNumber = selectOne((orm, $: { start: string }) =>
  orm
    .select({
      number: sql<number | null>`max(CAST(substr(name, length(${$.start}) + 1) AS INTEGER))`,
    })
    .from(apiKeys)
    .where(sql`substr(name, 1, length(${$.start})) = ${$.start}`),
);

/** Lists the values of keys (`keyIds`: a JSON array), newest first. */
export const listValuesOfKeys = selectMany((orm, $: { keyIds: string }) =>
  orm
    .select()
    .from(apiKeyValues)
    .where(isAmong(apiKeyValues.keyId, $.keyIds))
    .orderBy(...NEWEST_VALUE_FIRST),
);

/** Counts the responses to keys in each hour from `since` on, as JSON: hour → count. */
export const countRequestsOfKeys = selectMany((orm, $: { keyIds: string; since: number }) =>
  orm
    .select({
      keyId: apiKeyHours.keyId,
      byHour: sql<string>`json_group_object(hour, ok + client_error + limited)`,
    })
    .from(apiKeyHours)
    .where(sql`key_id IN (SELECT value FROM json_each(${$.keyIds})) AND hour >= ${$.since}`)
    .groupBy(apiKeyHours.keyId),
);

/** Lists the keys that exceeded their rate limit in the hours after `since`. */
export const listLimitedKeys = selectMany((orm, $: { keyIds: string; since: number }) =>
  orm
    .selectDistinct({ keyId: apiKeyHours.keyId })
    .from(apiKeyHours)
    .where(
      // `limited > 0` is a literal, so that SQLite can use the partial index of such hours.
      sql`key_id IN (SELECT value FROM json_each(${$.keyIds})) AND hour > ${$.since} AND limited > 0`,
    ),
);

/** Lists a key's counts by hour from `since` on, oldest first. */
export const listKeyHoursSince = selectMany((orm, $: { keyId: string; since: number }) =>
  orm
    .select()
    .from(apiKeyHours)
    .where(and(eq(apiKeyHours.keyId, $.keyId), gte(apiKeyHours.hour, $.since)))
    .orderBy(asc(apiKeyHours.hour)),
);

/* Retention. None is hot; each takes a range of one key's rows by its index. */

const day = sql.raw(String(DAY_MS));

export const listKeyIdsAfter = selectMany((orm, $: { after: string; limit: number }) =>
  orm
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(gt(apiKeys.id, $.after))
    .orderBy(asc(apiKeys.id))
    .limit($.limit),
);

/** Finds the first of a key's hours that is not the first hour of its day. */
export const findFirstUnmerged = selectOne((orm, $: { keyId: string }) =>
  orm
    .select({ hour: apiKeyHours.hour })
    .from(apiKeyHours)
    .where(and(eq(apiKeyHours.keyId, $.keyId), sql`${apiKeyHours.hour} % ${day} <> 0`))
    .orderBy(asc(apiKeyHours.hour))
    .limit(1),
);

/** Adds a key's hours older than `before` (start of a day) to the first hour of their day. */
export const addHoursToDays = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .insert(apiKeyHours)
    .select(
      sql`SELECT key_id, hour - hour % ${day}, sum(ok), sum(client_error), sum(limited)
        FROM api_key_hours
        WHERE key_id = ${$.keyId} AND hour < ${$.before} AND hour % ${day} <> 0
        GROUP BY key_id, hour - hour % ${day}`,
    )
    .onConflictDoUpdate(ADD_COUNTS),
);

/** Deletes a key's hours older than `before`, except first hours of a day. */
export const deleteHoursOfDays = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .delete(apiKeyHours)
    .where(
      and(
        eq(apiKeyHours.keyId, $.keyId),
        lt(apiKeyHours.hour, $.before),
        sql`${apiKeyHours.hour} % ${day} <> 0`,
      ),
    ),
);

export const deleteHoursBefore = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .delete(apiKeyHours)
    .where(and(eq(apiKeyHours.keyId, $.keyId), lt(apiKeyHours.hour, $.before))),
);

/** Removes the addresses of a key's values that were last used before `before`. */
export const blankAddressesOfKey = mutate((orm, $: { keyId: string; before: number }) =>
  orm
    .update(apiKeyValues)
    .set({ lastUsedIp: null })
    .where(
      and(
        eq(apiKeyValues.keyId, $.keyId),
        lt(apiKeyValues.lastUsedAt, $.before),
        isNotNull(apiKeyValues.lastUsedIp),
      ),
    ),
);
