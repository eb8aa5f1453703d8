import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  lt,
  type SQL,
  sql,
} from "drizzle-orm";
import { DAY_MS } from "../../base/time";
import { declareOrders, type Place } from "../../db/orders";
import { declareParts, isInPart, type Part } from "../../db/parts";
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
import { KEY_FILTERS, type KeyFilter, type KeyFilterTimes } from "./rules";

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

/** Conditions of the filters, shared by the list and the counts. */
function conditions($: KeyFilterTimes): Record<KeyFilter, SQL> {
  const live = sql`(api_keys.revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > ${$.now}))`;
  return {
    all: sql`TRUE`,
    live,
    expiring: sql`(${live} AND api_keys.expires_at <= ${$.expiringUntil})`,
    never_expires: sql`(${live} AND api_keys.expires_at IS NULL)`,
    unused: sql`(${live} AND api_keys.created_at < ${$.usedSince} AND NOT EXISTS (
      SELECT 1 FROM api_key_values AS v WHERE v.key_id = api_keys.id AND v.last_used_at >= ${$.usedSince}))`,
    // `limited > 0` is a literal, so that SQLite can use the partial index of such hours.
    limited: sql`(${live} AND EXISTS (
      SELECT 1 FROM api_key_hours AS h
      WHERE h.key_id = api_keys.id AND h.hour > ${$.limitedSince} AND h.limited > 0))`,
  };
}

/** A prepared search (`readSearch`). Patterns are those of LIKE, escaped by a backslash. */
export interface KeySearch {
  /** NULL matches all keys. */
  text: string | null;
  contains: string;
  /** The text as an element of a JSON list; NULL if it is no scope. */
  scope: string | null;
  /** NULL if the text cannot be the start of a value. */
  start: string | null;
}

const isFound = ($: KeySearch): SQL => sql`(${$.text} IS NULL
  OR api_keys.name LIKE ${$.contains} ESCAPE '\\'
  OR api_keys.created_by_label LIKE ${$.contains} ESCAPE '\\'
  OR api_keys.id = ${$.text} COLLATE NOCASE
  OR instr(api_keys.scopes, ${$.scope}) > 0
  OR (${$.start} IS NOT NULL AND EXISTS (SELECT 1 FROM api_key_values AS v
    WHERE v.key_id = api_keys.id AND v.start LIKE ${$.start} ESCAPE '\\')))`;

type PartQuery = Part & KeyFilterTimes;
type PartSearch = PartQuery & KeySearch & { filter: KeyFilter; limit: number };

/** Condition for the keys of a part that match a filter and a search. */
const isListed = ($: PartSearch): SQL => {
  const passes = Object.entries(conditions($)).map(
    ([filter, condition]) => sql` WHEN ${filter} THEN ${condition}`,
  );
  return sql`${isInPart(apiKeys.id, $)} AND CASE ${$.filter}${sql.join(passes)} END AND ${isFound($)}`;
};

/** Lists the keys that match filter and search, newest first. */
export const listNewestKeys = declareParts(
  apiKeys,
  selectMany((orm, $: PartSearch) =>
    orm.select().from(apiKeys).where(isListed($)).orderBy(desc(apiKeys.id)).limit($.limit),
  ),
);

/** Lists of the keys after a place that match filter and search, by their order. */
export const LIST_KEYS_IN = declareOrders(
  apiKeys.id,
  {
    name: sql`lower(api_keys.name)`,
    limit: sql`api_keys.rate_limit`,
    // The newest value has no end.
    used: sql`(SELECT v.last_used_at FROM api_key_values AS v
      WHERE v.key_id = api_keys.id AND v.ends_at IS NULL)`,
    created: sql`api_keys.created_at`,
    expires: sql`coalesce(api_keys.revoked_at, api_keys.expires_at)`,
  },
  ({ value, isAfter, by, compare }) =>
    declareParts(
      apiKeys,
      selectMany((orm, $: PartSearch & Place) =>
        orm
          .select({ ...getTableColumns(apiKeys), value })
          .from(apiKeys)
          .where(sql`${isListed($)} AND ${isAfter($)}`)
          .orderBy(...by)
          .limit($.limit),
      ),
      compare,
    ),
);

/** Lists the ids of the live keys that match filter and search, newest first. */
export const listLiveKeyIds = declareParts(
  apiKeys,
  selectMany((orm, $: PartSearch) =>
    orm
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(sql`${conditions($).live} AND ${isListed($)}`)
      .orderBy(desc(apiKeys.id))
      .limit($.limit),
  ),
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

/** Counts the keys that pass each filter, in a row for each part of the table. */
export const countKeysByFilter = declareParts(
  apiKeys,
  selectMany((orm, $: PartQuery) => {
    const passes = conditions($);
    const counts = KEY_FILTERS.map((filter) => [
      filter,
      sql<number>`count(*) FILTER (WHERE ${passes[filter]})`,
    ]);
    return orm
      .select(Object.fromEntries(counts) as Record<KeyFilter, SQL<number>>)
      .from(apiKeys)
      .where(isInPart(apiKeys.id, $));
  }),
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
