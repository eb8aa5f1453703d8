import type { Reader } from "../../db";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import { countWhole, listCutHeads } from "./lists";
import { findFirstSummary, listEndedLines, listLinesBetween, listNames } from "./summary-store";

/** An incident where many are listed: what it was, without what was told of it. Times in unix ms. */
export interface IncidentSummary {
  id: string;
  name: string;
  status: IncidentStatus;
  impact: Impact;
  startedAt: number;
  resolvedAt: number | null;
  /** Time at which its post-mortem was published; null without one. */
  postmortemPublishedAt: number | null;
  /** The names of the components that it ever named, as it called them last. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isCut: boolean;
}

/** Position in a list that is ordered by start, newest first: a start in unix ms, and an id. */
export interface SummaryCursor {
  at: number;
  id: string;
}

/**
 * The published incidents of a page that started at `from` or later and before `to` (unix ms), the last
 * started first, from behind `before` on; `limit` at most.
 */
export function listIncidentsBetween(
  reader: Reader,
  span: { pageId: string; from: number; to: number; before: SummaryCursor; limit: number },
): IncidentSummary[] {
  const { before, ...rest } = span;
  const to = Math.min(span.to, before.at + 1);
  return withNames(
    reader,
    listLinesBetween(reader, { ...rest, to, beforeAt: before.at, beforeId: before.id }),
  );
}

/** The published incidents of a page that were resolved at `since` (unix ms) or later: the last resolved, `limit` at most. */
export function listEndedIncidents(
  reader: Reader,
  desired: { pageId: string; since: number; limit: number },
): IncidentSummary[] {
  return withNames(reader, listEndedLines(reader, desired));
}

/** Finds the start of a page's first published incident, in unix ms; undefined without one. */
export function findFirstIncidentStart(
  reader: Reader,
  page: { pageId: string },
): number | undefined {
  return findFirstSummary(reader, page)?.startedAt;
}

/** Adds names of components. Lines beyond the budget of a document get the first 20 of the newest updates. */
function withNames(
  reader: Reader,
  rows: readonly Omit<IncidentSummary, "components" | "isCut">[],
): IncidentSummary[] {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const names = new Map<string, Map<string, string>>(ids.map((id) => [id, new Map()]));
  const count = countWhole(reader, ids);
  const whole = JSON.stringify(ids.slice(0, count));
  const cut = count === ids.length ? [] : listCutHeads(reader, ids.slice(count));
  const named = [
    ...listNames(reader, { ids: whole }),
    ...cut.flatMap(({ summaries }) => summaries.toReversed().flatMap((head) => head.components)),
  ];
  // In the order of the updates: a later name replaces an earlier one.
  for (const { incidentId, componentId, name } of named) {
    names.get(incidentId)?.set(componentId, name);
  }
  return rows.map((row, index) => ({
    ...row,
    components: [...(names.get(row.id)?.values() ?? [])],
    isCut: cut[index - count]?.isCut ?? false,
  }));
}
