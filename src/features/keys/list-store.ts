/* Statements of the dashboard's list of keys, which no start of the server loads. */
import { desc, getTableColumns, type SQL, sql } from "drizzle-orm";
import { declareOrders, type Place } from "../../db/orders";
import { declareParts, isInPart, type Part } from "../../db/parts";
import { selectMany } from "../../db/statements";
import { apiKeys } from "../../db/tables/keys";
import { KEY_FILTERS, type KeyFilter, type KeyFilterTimes } from "./rules";

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

const matchesSearch = ($: KeySearch): SQL => sql`(${$.text} IS NULL
  OR api_keys.name LIKE ${$.contains} ESCAPE '\\'
  OR api_keys.created_by_label LIKE ${$.contains} ESCAPE '\\'
  OR api_keys.id = ${$.text} COLLATE NOCASE
  OR instr(api_keys.scopes, ${$.scope}) > 0
  OR (${$.start} IS NOT NULL AND EXISTS (SELECT 1 FROM api_key_values AS v
    WHERE v.key_id = api_keys.id AND v.start LIKE ${$.start} ESCAPE '\\')))`;

type PartQuery = Part & KeyFilterTimes;
type KeyPartSearch = PartQuery & KeySearch & { filter: KeyFilter; limit: number };

/** Condition for the keys of a part that match a filter and a search. */
const isListed = ($: KeyPartSearch): SQL => {
  const passes = Object.entries(conditions($)).map(
    ([filter, condition]) => sql` WHEN ${filter} THEN ${condition}`,
  );
  return sql`${isInPart(apiKeys.id, $)} AND CASE ${$.filter}${sql.join(passes)} END AND ${matchesSearch($)}`;
};

/** Lists the keys that match filter and search, newest first. */
export const listNewestKeys = declareParts(
  apiKeys,
  selectMany((orm, $: KeyPartSearch) =>
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
      selectMany((orm, $: KeyPartSearch & Place) =>
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
  selectMany((orm, $: KeyPartSearch) =>
    orm
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(sql`${conditions($).live} AND ${isListed($)}`)
      .orderBy(desc(apiKeys.id))
      .limit($.limit),
  ),
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
