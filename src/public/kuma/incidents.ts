import type { Reader } from "../../db/statements";
import type { Impact } from "../../base/status";
import { numbersOf } from "../../features/compat/entries";
import { countPublished } from "../../features/incidents/store";
import {
  type IncidentRecord,
  listIncidentsBetween,
  listIncidentsById,
  type ReadRecords,
} from "../../features/incidents/records";
import type { Snapshot } from "../../features/status/snapshot";
import { parseInstant, SECOND_MS } from "../../base/time";
import type { KumaIncident, KumaIncidentHistory } from "./model";
import { utcText } from "./times";

const INCIDENTS_PER_PAGE = 10;

const STYLES: Readonly<Record<Impact, string>> = {
  critical: "danger",
  major: "danger",
  minor: "warning",
  none: "info",
};

/** Returns an incident; `numberOf` returns the numbers of the incident and its page by id. */
export function presentIncident(
  { row, updates }: IncidentRecord,
  numberOf: (id: string) => number,
): KumaIncident {
  const [newest] = updates;
  const isChanged = newest !== undefined && newest.displayAt > row.startedAt;
  const isActive = row.resolvedAt === null;
  return {
    id: numberOf(row.id),
    style: STYLES[row.impact],
    title: row.name,
    content: newest?.body ?? "",
    pin: isActive,
    active: isActive,
    createdDate: utcText(row.startedAt),
    lastUpdatedDate: isChanged ? utcText(newest.displayAt) : null,
    status_page_id: numberOf(row.pageId),
  };
}

/**
 * Returns a function that lists ten incidents of a page, newest start first: from the newest, or those that
 * started before the cursor, the creation of the last one. An unreadable cursor has no incidents, as in Uptime
 * Kuma. Incidents are counted once per snapshot.
 */
export function createIncidentHistory(
  reader: Reader,
  readIncidents: ReadRecords,
): (snapshot: Snapshot, cursor: string | null) => KumaIncidentHistory {
  const totals = new WeakMap<Snapshot, number>();

  function totalOf(snapshot: Snapshot): number {
    const pageId = snapshot.document.page.id;
    const total = totals.get(snapshot) ?? countPublished(reader, { pageId })?.count ?? 0;
    totals.set(snapshot, total);
    return total;
  }

  return (snapshot, cursor) => {
    const pageId = snapshot.document.page.id;
    const listFrom = (at: number, limit: number) =>
      listIncidentsBetween(reader, {
        pageId,
        from: 0,
        to: Number.MAX_SAFE_INTEGER,
        before: { at, id: "" },
        limit,
      });
    const start = cursor === null ? Number.MAX_SAFE_INTEGER : (parseInstant(isoOf(cursor)) ?? 0);
    const ids = listFrom(start, INCIDENTS_PER_PAGE).map(({ id }) => id);
    const records = listIncidentsById(reader, ids, readIncidents);
    const numberOf = numbersOf(reader, [pageId, ...ids]);
    const last = records.at(-1)?.row;
    // Cursors have no milliseconds.
    const end = last && Math.floor(last.startedAt / SECOND_MS) * SECOND_MS;
    const hasMore = end !== undefined && listFrom(end, 1).length > 0;
    return {
      ok: true,
      incidents: records.map((record) => presentIncident(record, numberOf)),
      total: totalOf(snapshot),
      nextCursor: hasMore ? utcText(end) : null,
      hasMore,
    };
  };
}

function isoOf(cursor: string): string {
  return `${cursor.trim().replace(" ", "T")}Z`;
}
