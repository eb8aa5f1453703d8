import type { Reader } from "../../db";
import type { MaintenanceStatus } from "../../kernel/incident-status";
import { componentsForDocument } from "./document-records";
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
  /** When it was completed or cancelled; null while it is under way. */
  endedAt: number | null;
  /** The names of its components, in the page's order, from when they were chosen. */
  components: readonly string[];
  /** True if names are left out because the list has no room for all of them. */
  isCut: boolean;
}

/**
 * What began on a page at `from` or later and before `to` (unix ms), under way or over: the last begun
 * first, from behind `before` on (a beginning, and the id of what began then); `limit` at most.
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
 * What began on a page at `from` or later and ended at `since` or later (unix ms), completed or
 * cancelled: the last begun first, `limit` at most.
 */
export function listEndedMaintenance(
  reader: Reader,
  desired: { pageId: string; from: number; since: number; limit: number },
): MaintenanceSummary[] {
  return toLines(reader, listEndedLines(reader, desired));
}

/** When the first maintenance of a page began, in unix ms; undefined if none has. */
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
