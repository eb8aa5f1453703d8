import { desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { incidents } from "../../db/tables/incidents";
import type { maintenances } from "../../db/tables/maintenances";

type SummaryTable = typeof incidents | typeof maintenances;

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

/** Returns the parameters for a span, whose end is moved to the cursor so that an index finds it. */
export function spanParams({ before, ...span }: SummarySpan): SpanParams {
  const to = Math.min(span.to, before.at + 1);
  return { ...span, to, beforeAt: before.at, beforeId: before.id };
}

/** Conditions: a row of the page started within the span and comes after the cursor. */
export const isWithin = ({ id, pageId, startedAt }: SummaryTable, $: SpanParams): SQL[] => [
  eq(pageId, $.pageId),
  gte(startedAt, $.from),
  lt(startedAt, $.to),
  sql`(${startedAt}, ${id}) < (${$.beforeAt}, ${$.beforeId})`,
];

/** Order of summaries: newest start first. */
export const newestStartFirst = ({ id, startedAt }: SummaryTable): SQL[] => [
  desc(startedAt),
  desc(id),
];
