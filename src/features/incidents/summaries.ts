import type { Reader } from "../../db/statements";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import { spanParams, type SummaryCursor, type SummarySpan } from "../timeline/store";
import {
  findFirstSummary,
  listEndedSummaries,
  listNames,
  listOpenSummaries,
  listSummariesBetween,
} from "./list-store";
import { countComplete, listTruncatedUpdates } from "./lists";

/** Incident in a list, without its updates. Times in unix ms. */
export interface IncidentSummary {
  id: string;
  name: string;
  status: IncidentStatus;
  impact: Impact;
  startedAt: number;
  resolvedAt: number | null;
  /** Time at which its post-mortem was published; null without one. */
  postmortemPublishedAt: number | null;
  /** Last names of all components that it ever named. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isTruncated: boolean;
}

/** Lists the published incidents of a page that started within a span, newest start first. */
export function listIncidentsBetween(reader: Reader, span: SummarySpan): IncidentSummary[] {
  return withNames(reader, listSummariesBetween(reader, spanParams(span)));
}

/** Lists the published incidents of a page that were resolved at `since` (unix ms) or later, latest first. */
export function listEndedIncidents(
  reader: Reader,
  query: { pageId: string; since: number; limit: number },
): IncidentSummary[] {
  return withNames(reader, listEndedSummaries(reader, query));
}

/** Lists the published open incidents of a page after a position, newest start first. */
export function listOpenSummariesOf(
  reader: Reader,
  query: { pageId: string; before: SummaryCursor; limit: number },
): IncidentSummary[] {
  const { pageId, before, limit } = query;
  const rows = listOpenSummaries(reader, {
    pageId,
    beforeAt: before.at,
    beforeId: before.id,
    limit,
  });
  return withNames(reader, rows);
}

/** Finds the start of a page's first published incident, in unix ms; undefined without one. */
export function findFirstIncidentStart(
  reader: Reader,
  page: { pageId: string },
): number | undefined {
  return findFirstSummary(reader, page)?.startedAt;
}

/** Adds the names of components. Beyond the budget of a document, only those of `listTruncatedUpdates`. */
function withNames(
  reader: Reader,
  rows: readonly Omit<IncidentSummary, "components" | "isTruncated">[],
): IncidentSummary[] {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const count = countComplete(reader, ids);
  const truncated = listTruncatedUpdates(reader, ids.slice(count));
  const named = [
    ...listNames(reader, { ids: JSON.stringify(ids.slice(0, count)) }),
    ...truncated.flatMap(({ updates }) =>
      updates.toReversed().flatMap((update) => update.components),
    ),
  ];
  const names = new Map(ids.map((id) => [id, new Map<string, string>()]));
  // In the order of the updates: a later name replaces an earlier one.
  for (const { incidentId, componentId, name } of named) {
    names.get(incidentId)?.set(componentId, name);
  }
  return rows.map((row, index) => ({
    ...row,
    components: [...(names.get(row.id)?.values() ?? [])],
    isTruncated: truncated[index - count]?.isTruncated ?? false,
  }));
}
