import type { Reader } from "../../db";
import type { MaintenanceStatus } from "../../domain/incident-status";
import { spanParams, type SummarySpan } from "../timeline";
import { findFirstSummary, listEndedSummaries, listSummariesBetween } from "./list-store";
import { componentsOf, countWhole } from "./lists";

/** A maintenance that has started, in a list of the past, without its updates. Times in unix ms. */
export interface MaintenanceSummary {
  id: string;
  name: string;
  status: MaintenanceStatus;
  startedAt: number;
  /** Time of its completion or cancellation; null while it is in progress. */
  endedAt: number | null;
  /** Names of its components from when they were chosen, in the order of the page. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isCut: boolean;
}

/** Lists maintenances of a page that started within a span, newest start first. */
export function listMaintenanceBetween(reader: Reader, span: SummarySpan): MaintenanceSummary[] {
  return withNames(reader, listSummariesBetween(reader, spanParams(span)));
}

/**
 * Lists maintenances of a page that started at `from` or later and ended at `since` or later (unix
 * ms), newest start first.
 */
export function listEndedMaintenance(
  reader: Reader,
  query: { pageId: string; from: number; since: number; limit: number },
): MaintenanceSummary[] {
  return withNames(reader, listEndedSummaries(reader, query));
}

/** Finds the start of a page's first maintenance, in unix ms; undefined without one. */
export function findFirstMaintenanceStart(
  reader: Reader,
  page: { pageId: string },
): number | undefined {
  return findFirstSummary(reader, page)?.startedAt ?? undefined;
}

function withNames(
  reader: Reader,
  rows: ReturnType<typeof listSummariesBetween>,
): MaintenanceSummary[] {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const chosen = componentsOf(reader, ids, countWhole(reader, ids));
  return rows.map((row, index) => ({
    ...row,
    startedAt: row.startedAt ?? 0,
    components: (chosen[index]?.components ?? []).map(({ name }) => name),
    isCut: chosen[index]?.isCut ?? false,
  }));
}
