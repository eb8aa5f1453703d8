import type { Reader } from "../../db";
import type { MaintenanceStatus } from "../../domain/incident-status";
import { componentsForDocument } from "./lists";
import {
  findFirstBegun,
  listBegunLines,
  listEndedLines,
  type MaintenanceLineRow,
} from "./summary-store";

/** A maintenance that has begun, where many are listed. Times in unix ms. */
export interface MaintenanceSummary {
  id: string;
  name: string;
  status: MaintenanceStatus;
  startedAt: number;
  /** Time of its completion or cancellation; null while it is in progress. */
  endedAt: number | null;
  /** The names of its components, in the page's order, from when they were chosen. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isCut: boolean;
}

/**
 * Lists maintenances of a page that started from `from` until before `to` (unix ms), in progress or
 * over: newest first, after the cursor `before`; at most `limit`.
 */
export function listMaintenanceBetween(
  reader: Reader,
  span: {
    pageId: string;
    from: number;
    to: number;
    before: { at: number; id: string };
    limit: number;
  },
): MaintenanceSummary[] {
  const { before, ...rest } = span;
  const to = Math.min(span.to, before.at + 1);
  return toLines(
    reader,
    listBegunLines(reader, { ...rest, to, beforeAt: before.at, beforeId: before.id }),
  );
}

/**
 * Lists maintenances of a page that started at `from` or later and ended at `since` or later (unix
 * ms): newest first, at most `limit`.
 */
export function listEndedMaintenance(
  reader: Reader,
  desired: { pageId: string; from: number; since: number; limit: number },
): MaintenanceSummary[] {
  return toLines(reader, listEndedLines(reader, desired));
}

/** Finds the start of a page's first maintenance, in unix ms; undefined without one. */
export function findFirstMaintenanceStart(
  reader: Reader,
  page: { pageId: string },
): number | undefined {
  return findFirstBegun(reader, page)?.startedAt ?? undefined;
}

function toLines(reader: Reader, rows: readonly MaintenanceLineRow[]): MaintenanceSummary[] {
  if (rows.length === 0) return [];
  const chosen = componentsForDocument(
    reader,
    rows.map(({ id }) => id),
  );
  return rows.map(({ startedAt, ...row }) => {
    const { components = [], isCut = false } = chosen.get(row.id) ?? {};
    const names = components.map(({ name }) => name);
    return { ...row, startedAt: startedAt ?? 0, components: names, isCut };
  });
}
