import type { Reader } from "../../db/statements";
import { toIso } from "../../base/time";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import type { DayOf } from "../components/history";
import { listOpenCausesOfPage } from "../components/cause-store";
import { presentComponent, presentGroup } from "../components/wire";
import { type IncidentRecord, listOpenIncidents, type ReadRecords } from "../incidents/records";
import { listOpenImpacts } from "../incidents/store";
import { presentIncident } from "../incidents/wire";
import { listMaintenanceForPage, nextEdge } from "../maintenance/records";
import type { MaintenanceRecord } from "../maintenance/store";
import { presentMaintenance } from "../maintenance/wire";
import { UPCOMING_MS } from "../maintenance/rules";
import type { PageRow } from "../pages/store";
import { presentPage } from "../pages/wire";
import { holdsUntil, readComponentHistories, type ReadHistories } from "./component-histories";
import type { DayEntries } from "./day-entries";
import type { StatusDocument } from "./model";
import { headlineOf, type Headline } from "./rules";
import { SHARED_STEP_MS, sharedTime, stepStart } from "./shared-time";

/**
 * Everything that a page shows, built once per change. Representations are made from it once as
 * well.
 */
export interface Snapshot {
  document: StatusDocument;
  /** Records of the document's groups, incidents and maintenance, in the same order. */
  records: {
    groups: readonly GroupRow[];
    incidents: readonly IncidentRecord[];
    maintenance: readonly MaintenanceRecord[];
  };
  /**
   * UTC days up to today by component id, oldest first, as many as the page's `history_days`, for
   * all components of the document. Folded on first use.
   */
  readonly days: ReadonlyMap<string, readonly DayOf[]>;
  /** Returns the days of one component of the document, without folding those of others. */
  daysOf(componentId: string): readonly DayOf[];
  /** Returns the incidents and maintenances of these days, by start of the day; only of affected days. */
  entriesOf(componentId: string): ReadonlyMap<number, DayEntries>;
  /** Number of published open incidents. The document has at most 50 of them. */
  openIncidentCount: number;
  /**
   * Time to which it applies on all nodes of a fleet, in unix ms: documents made from it at any time have equal bytes.
   * Undefined on one machine, whose documents apply to the time at which they are made.
   */
  sharedAt: number | undefined;
  /** Time from which it is outdated without any change, in unix ms. */
  staleAt: number;
}

/**
 * Readers may use caches; without them a snapshot reads the database. Caches are valid for
 * committed data only.
 */
interface SnapshotOptions {
  /** True in a fleet. */
  isShared?: boolean;
  readHistories?: ReadHistories;
  readIncidents?: ReadRecords;
}

/** Reads the open causes of a page's components by component id. */
export function openCausesByComponent(reader: Reader, pageId: string) {
  return Map.groupBy(listOpenCausesOfPage(reader, { pageId }), ({ componentId }) => componentId);
}

/** Builds the snapshot of one page from the database, as it stands at `now` (unix ms). */
export function buildSnapshot(
  reader: Reader,
  page: PageRow,
  baseUrl: string,
  now: number,
  { readHistories = readComponentHistories, readIncidents, isShared = false }: SnapshotOptions = {},
): Snapshot {
  const pageId = page.id;
  const rows = listComponentsOfPage(reader, { pageId });
  const open = openCausesByComponent(reader, pageId);
  const openOf = (row: ComponentRow) => open.get(row.id) ?? [];
  const histories = readHistories(reader, { page, components: rows, open, now, isShared });
  const records = {
    groups: listGroups(reader, { pageId }),
    incidents: listOpenIncidents(reader, { pageId }, readIncidents),
    maintenance: listMaintenanceForPage(reader, { pageId, now, until: now + UPCOMING_MS }),
  };
  const impacts = listOpenImpacts(reader, { pageId }).map(({ impact }) => impact);
  const daysOf = (id: string) => histories.get(id)?.days ?? [];
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
        ...presentComponent(row, page.slug, openOf(row)),
        uptime_90d: histories.get(row.id)?.uptime ?? null,
      })),
      incidents: records.incidents.map((record) => presentIncident(record, baseUrl)),
      maintenance: records.maintenance.map((record) => presentMaintenance(record, baseUrl)),
      updated_at: toIso(page.contentChangedAt),
    },
    records,
    get days() {
      return (days ??= new Map(rows.map(({ id }) => [id, daysOf(id)])));
    },
    daysOf,
    entriesOf: (id) => histories.get(id)?.entries ?? new Map(),
    openIncidentCount: impacts.length,
    sharedAt: isShared ? sharedTime(now, page.contentChangedAt) : undefined,
    staleAt: Math.min(
      isShared
        ? stepStart(now) + SHARED_STEP_MS
        : holdsUntil(Math.min(now, ...Array.from(histories.values(), ({ readAt }) => readAt))),
      nextEdge(reader, { pageId, now }) ?? Number.POSITIVE_INFINITY,
    ),
  };
}

/** Reads the current headline of a page from the database, for messages about it. */
export function readHeadline(reader: Reader, pageId: string): Headline {
  return headlineOf(
    listComponentsOfPage(reader, { pageId }).map(({ status }) => status),
    listOpenImpacts(reader, { pageId }).map(({ impact }) => impact),
  );
}
