import type { Reader } from "../../db";
import { DAY_MS, MINUTE_MS, startOfDay, toIso } from "../../kernel/time";
import {
  type CauseRow,
  type ComponentRow,
  type DayOf,
  foldDays,
  type GroupRow,
  type Interval,
  knownSpan,
  listCausesOfPage,
  listComponentsOfPage,
  listGroups,
  presentComponent,
  presentGroup,
  uptime,
} from "../components";
import {
  type Incident,
  type IncidentRecord,
  listEndedIncidents,
  listOpenImpacts,
  listOpenIncidents,
  presentIncident,
} from "../incidents";
import {
  listMaintenanceForPage,
  listPastMaintenance,
  type Maintenance,
  type MaintenanceRecord,
  nextEdge,
  presentMaintenance,
  UPCOMING_MS,
} from "../maintenance";
import { listNoDataOfPage } from "../monitors";
import { type PageRow, presentPage } from "../pages";
import type { StatusDocument } from "./model";
import { headlineOf } from "./rules";

/** The UTC days that a component's uptime in the document reaches back, today included. */
export const UPTIME_DAYS = 90;
/** The UTC days, today included, in which something ended that a page shows as past. */
export const PAST_DAYS = 15;
const PAST_MAX = 100;
/** Found by their beginning, so that one which took longer than this is not among the past. */
const LONGEST_MAINTENANCE_MS = 30 * DAY_MS;
const UPTIME_REFRESH_MS = 5 * MINUTE_MS;

/** What one page shows, made once per change; what is sent is made from it once, too. */
export interface Snapshot {
  document: StatusDocument;
  /** What the document's groups, incidents and maintenance are presented from, in the same order. */
  records: {
    groups: readonly GroupRow[];
    incidents: readonly IncidentRecord[];
    maintenance: readonly MaintenanceRecord[];
  };
  /**
   * By the id of a component, its last UTC days up to today, oldest first: as many as the page's
   * `history_days`. Every component of the document is there. Folded at the first asking, since a
   * reader of the document needs none.
   */
  readonly days: ReadonlyMap<string, readonly DayOf[]>;
  /**
   * What is over and has ended within the last 15 UTC days, today included; of each the last begun
   * first, 100 at most, with its 20 newest updates. Nothing of it is in the document, which has what is
   * open.
   */
  past: { incidents: readonly Incident[]; maintenance: readonly Maintenance[] };
  /** How many published incidents are open: the document carries 50 of them at most. */
  openIncidentCount: number;
  /** The moment from which time alone makes it stale, in unix ms. */
  staleAt: number;
}

/** Builds the snapshot of one page from the database, as it stands at `now` (unix ms). */
export function buildSnapshot(
  reader: Reader,
  page: PageRow,
  baseUrl: string,
  now: number,
): Snapshot {
  const pageId = page.id;
  const today = startOfDay(now);
  const rows = listComponentsOfPage(reader, { pageId });
  const causes = causesByComponent(reader, page, now);
  const causesOf = (row: ComponentRow) => causes.get(row.id) ?? [];
  const gaps = gapsByComponent(reader, page, now);
  const records = {
    groups: listGroups(reader, { pageId }),
    incidents: listOpenIncidents(reader, { pageId }),
    maintenance: listMaintenanceForPage(reader, { pageId, now, until: now + UPCOMING_MS }),
  };
  const impacts = listOpenImpacts(reader, { pageId }).map(({ impact }) => impact);
  const foldAll = () => {
    const daysOf = (row: ComponentRow) => {
      const known = knownSpan(row, now, page.historyDays);
      return foldDays(causesOf(row), known, page.historyDays, gaps.get(row.id));
    };
    return new Map(rows.map((row) => [row.id, daysOf(row)]));
  };
  let days: Snapshot["days"] | undefined;
  return {
    document: {
      page: presentPage(page, baseUrl),
      status: headlineOf(
        rows.map((row) => row.status),
        impacts,
      ),
      groups: records.groups.map(presentGroup),
      components: rows.map((row) => ({
        ...presentComponent(row, page.slug, causesOf(row).filter(isOpen)),
        uptime_90d: uptime(causesOf(row), knownSpan(row, now, UPTIME_DAYS), gaps.get(row.id)),
      })),
      incidents: records.incidents.map((record) => presentIncident(record, baseUrl)),
      maintenance: records.maintenance.map((record) => presentMaintenance(record, baseUrl)),
      updated_at: toIso(page.contentChangedAt),
    },
    records,
    get days() {
      return (days ??= foldAll());
    },
    openIncidentCount: impacts.length,
    past: pastOf(reader, pageId, baseUrl, today - (PAST_DAYS - 1) * DAY_MS, now),
    staleAt: Math.min(
      today + DAY_MS,
      now + UPTIME_REFRESH_MS,
      nextEdge(reader, { pageId, now }) ?? Number.POSITIVE_INFINITY,
    ),
  };
}

function isOpen(cause: CauseRow): boolean {
  return cause.endedAt === null;
}

/** The beginning of all days that are shown of a page's components. */
function firstDay(page: PageRow, now: number): number {
  const days = Math.max(UPTIME_DAYS, page.historyDays);
  return knownSpan({ createdAt: 0, startDate: null }, now, days).from;
}

/** What marked each component within these days. */
function causesByComponent(
  reader: Reader,
  page: PageRow,
  now: number,
): ReadonlyMap<string, CauseRow[]> {
  const since = firstDay(page, now);
  const causes = listCausesOfPage(reader, { pageId: page.id, since }).map(({ cause }) => cause);
  return Map.groupBy(causes, (cause) => cause.componentId);
}

/** When nothing was known of each component within them. */
function gapsByComponent(
  reader: Reader,
  page: PageRow,
  now: number,
): ReadonlyMap<string, Interval[]> {
  const since = firstDay(page, now);
  const gaps = listNoDataOfPage(reader, { pageId: page.id, since }).map(({ row }) => row);
  return Map.groupBy(gaps, (gap) => gap.componentId);
}

function pastOf(
  reader: Reader,
  pageId: string,
  baseUrl: string,
  since: number,
  now: number,
): Snapshot["past"] {
  const incidents = listEndedIncidents(reader, { pageId, since, limit: PAST_MAX });
  const begun = { pageId, from: since - LONGEST_MAINTENANCE_MS, to: now + MINUTE_MS };
  const maintenance = listPastMaintenance(reader, begun)
    .filter(({ row }) => (row.completedAt ?? row.updatedAt) >= since)
    .slice(0, PAST_MAX);
  return {
    incidents: incidents.map((record) => presentIncident(record, baseUrl)),
    maintenance: maintenance.map((record) => presentMaintenance(record, baseUrl)),
  };
}
