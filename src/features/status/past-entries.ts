/* Past and open incidents and maintenance of a page, for its history and feeds. */
import { DAY_MS, startOfDay } from "../../base/time";
import type { Reader } from "../../db/statements";
import {
  findFirstIncidentStart,
  type IncidentSummary,
  listEndedIncidents,
  listIncidentsBetween,
  listOpenSummariesOf,
} from "../incidents/records";
import {
  findFirstMaintenanceStart,
  listEndedMaintenance,
  listMaintenanceBetween,
  type MaintenanceSummary,
} from "../maintenance/records";
import type { PageRow } from "../pages/store";
import type { SummaryCursor } from "../timeline/store";

/** Number of days, including today, of past entries on a page. */
export const PAST_DAYS = 14;

const PAST_MAX = 100;

/** Maximum duration of maintenance among past entries, since it is found by its start. */
export const LONGEST_MAINTENANCE_MS = 30 * DAY_MS;

/** An incident or maintenance in the history of a page. */
export interface HistoryEntry {
  /** Start and end in unix ms; no end while it is open. */
  from: number;
  to: number | null;
  subject:
    | { kind: "incident"; incident: IncidentSummary }
    | { kind: "maintenance"; maintenance: MaintenanceSummary };
}

/**
 * Lists entries of a page that ended within the last 14 days of any time zone, including today, newest first: at
 * most 100 incidents and 100 maintenances. The status document has only open ones. `now` in unix
 * ms.
 */
export function readPastEntries(reader: Reader, pageId: string, now: number): HistoryEntry[] {
  const since = startOfDay(now) - PAST_DAYS * DAY_MS;
  const from = since - LONGEST_MAINTENANCE_MS;
  return inOrder(
    listEndedIncidents(reader, { pageId, since, limit: PAST_MAX }),
    listEndedMaintenance(reader, { pageId, from, since, limit: PAST_MAX }),
  );
}

/** One part of a history, with the cursor of the next one, if there is one. */
interface HistoryPart {
  entries: HistoryEntry[];
  next: SummaryCursor | undefined;
}

/**
 * Lists entries of a page that started within a span (unix ms, end exclusive), newest first, at
 * most `limit`: from the end of the span, or after the cursor of the previous part.
 */
export function readHistory(
  reader: Reader,
  span: { pageId: string; from: number; to: number; before?: SummaryCursor | undefined },
  limit: number,
): HistoryPart {
  const { before = { at: span.to, id: "" } } = span;
  const desired = { ...span, before, limit: limit + 1 };
  const entriesAndOneMore = inOrder(
    listIncidentsBetween(reader, desired),
    listMaintenanceBetween(reader, desired),
  );
  return partOf(entriesAndOneMore, limit);
}

/** Returns the first entries, with the cursor of the next part if there are more. */
function partOf(entriesAndOneMore: readonly HistoryEntry[], limit: number): HistoryPart {
  const entries = entriesAndOneMore.slice(0, limit);
  const last = entries.at(-1);
  const isMore = entriesAndOneMore.length > limit && last !== undefined;
  return { entries, next: isMore ? { at: last.from, id: idOf(last) } : undefined };
}

/** Lists the open incidents of a page, newest start first: from the newest, or after the cursor of a part. */
export function readOpenIncidents(
  reader: Reader,
  query: { pageId: string; before?: SummaryCursor | undefined },
  limit: number,
): HistoryPart {
  const before = query.before ?? { at: Number.MAX_SAFE_INTEGER, id: "" };
  const desired = { pageId: query.pageId, before, limit: limit + 1 };
  return partOf(inOrder(listOpenSummariesOf(reader, desired), []), limit);
}

/** Returns the start of a page's history (unix ms): its creation, or an earlier entry. */
export function historyStartOf(reader: Reader, page: Pick<PageRow, "id" | "createdAt">): number {
  const pageId = page.id;
  return Math.min(
    page.createdAt,
    findFirstIncidentStart(reader, { pageId }) ?? page.createdAt,
    findFirstMaintenanceStart(reader, { pageId }) ?? page.createdAt,
  );
}

function inOrder(
  incidents: readonly IncidentSummary[],
  maintenance: readonly MaintenanceSummary[],
): HistoryEntry[] {
  return [
    ...incidents.map((incident): HistoryEntry => {
      const { startedAt: from, resolvedAt: to } = incident;
      return { from, to, subject: { kind: "incident", incident } };
    }),
    ...maintenance.map((one): HistoryEntry => {
      const { startedAt: from, endedAt: to } = one;
      return { from, to, subject: { kind: "maintenance", maintenance: one } };
    }),
  ].sort((a, b) => b.from - a.from || (idOf(a) < idOf(b) ? 1 : -1));
}

function idOf({ subject }: HistoryEntry): string {
  return subject.kind === "incident" ? subject.incident.id : subject.maintenance.id;
}
