import { and, desc, eq, getTableName, gte, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { selectMany } from "../../db/statements";
import type { incidents, incidentUpdates } from "../../db/tables/incidents";
import type { maintenances, maintenanceUpdates } from "../../db/tables/maintenances";
import { pages } from "../../db/tables/pages";
import { isFound, type PartSearch } from "../../db/word-search";

/* Common parts of the statements of incidents and maintenance. */

type OwnerTable = typeof incidents | typeof maintenances;
type UpdateTable = typeof incidentUpdates | typeof maintenanceUpdates;

/** Order of updates: newest first. */
export const newestFirst = ({ displayAt, id }: UpdateTable): SQL[] => [desc(displayAt), desc(id)];

/**
 * Condition: `id` is one of the `each` newest updates of the incident or maintenance `i.value`.
 * `ownerId` is the column of the updates with the id of the incident or maintenance.
 */
export function isAmongNewest(id: SQL | SQLiteColumn, ownerId: SQLiteColumn, each: number): SQL {
  const updates = sql.raw(getTableName(ownerId.table));
  return sql`${id} IN (SELECT id FROM ${updates} WHERE ${sql.raw(ownerId.name)} = i.value
    ORDER BY display_at DESC, id DESC LIMIT ${each})`;
}

/**
 * Builds the statement that returns the bytes of the texts of at most `each` newest updates of
 * several incidents or maintenances (`ids`: a JSON list).
 */
export const textSizes = (ownerId: SQLiteColumn) =>
  selectMany((orm, $: { ids: string; each: number }) =>
    orm
      .select({ id: sql<string>`i.value`, bytes: sql<number>`sum(octet_length(u.body))` })
      .from(sql`json_each(${$.ids}) AS i`)
      .crossJoin(sql`${sql.raw(getTableName(ownerId.table))} AS u`)
      .where(isAmongNewest(sql`u.id`, ownerId, $.each))
      .groupBy(sql`i.value`),
  );

/** Position in a list that is ordered by start, newest first: a start in unix ms, and an id. */
export interface SummaryCursor {
  at: number;
  id: string;
}

/** Request for what started on a page from `from` until before `to` (unix ms), after a cursor. */
export interface SummarySpan {
  pageId: string;
  from: number;
  to: number;
  before: SummaryCursor;
  limit: number;
}

/** Parameters of a statement for a span. */
export interface SpanParams extends Omit<SummarySpan, "before"> {
  beforeAt: number;
  beforeId: string;
}

/** Request for what was not over at some time from `from` until before `to` (unix ms). */
export type WithinSpan = Omit<SummarySpan, "before">;

/** Returns the parameters for a span. Its end is moved to the cursor, so that an index finds it. */
export function spanParams({ before, ...span }: SummarySpan): SpanParams {
  const to = Math.min(span.to, before.at + 1);
  return { ...span, to, beforeAt: before.at, beforeId: before.id };
}

/** Conditions: a row of the page started within the span and comes after the cursor. */
export const isWithin = ({ id, pageId, startedAt }: OwnerTable, $: SpanParams): SQL[] => [
  eq(pageId, $.pageId),
  gte(startedAt, $.from),
  lt(startedAt, $.to),
  sql`(${startedAt}, ${id}) < (${$.beforeAt}, ${$.beforeId})`,
];

/** Condition of a search on all pages: a row that is not deleted, whose name, page or id contains the words. */
export const isFoundOnPages = (
  { id, name, deletedAt }: OwnerTable,
  $: PartSearch,
): SQL | undefined =>
  and(
    isNull(deletedAt),
    isNull(pages.deletedAt),
    isFound(id, sql`${name} || ' ' || ${pages.name} || ' ' || ${id}`, $),
  );

/** Order of summaries: newest start first. */
export const newestStartFirst = ({ id, startedAt }: OwnerTable): SQL[] => [
  desc(startedAt),
  desc(id),
];
