import type { TSchema } from "@sinclair/typebox";
import type { Reader } from "../../db/statements";
import { listNewestIncidents, type ReadRecords } from "../../features/incidents/records";
import { isUnderWay } from "../../features/maintenance/rules";
import { listMaintenance, listMaintenanceForPage } from "../../features/maintenance/lists";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import type { Snapshot } from "../../features/status/snapshot";
import {
  V2ComponentsDocument,
  V2IncidentsDocument,
  V2MaintenanceDocument,
  V2StatusDocument,
  V2SummaryDocument,
} from "./model";
import {
  presentComponents,
  presentIncident,
  presentMaintenance,
  type DocumentContext,
} from "./present";

/** Number of incidents or maintenances in lists. */
const LISTED_MAX = 50;

/** Sources of a document: the snapshot of a page, and readers of further data. */
interface Source {
  snapshot: Snapshot;
  reader: Reader;
  readIncidents?: ReadRecords;
  /** Unix ms. */
  now: number;
}

/** One document of Statuspage's public API. */
export interface V2Document {
  /** Path below `api/v2/`. */
  path: string;
  /** End of its operation id in the OpenAPI document. */
  name: string;
  summary: string;
  schema: TSchema;
  make(source: Source): object;
}

export const V2_DOCUMENTS: readonly V2Document[] = [
  {
    path: "summary.json",
    name: "Summary",
    summary: "Status, components, unresolved incidents, upcoming and active maintenance",
    schema: V2SummaryDocument,
    make: (source) => ({
      page: pageOf(source.snapshot),
      components: presentComponents(source.snapshot),
      incidents: unresolved(source),
      scheduled_maintenances: presentAll(source, notEnded(source)),
      status: source.snapshot.document.status,
    }),
  },
  {
    path: "status.json",
    name: "Status",
    summary: "The headline",
    schema: V2StatusDocument,
    make: ({ snapshot }) => ({ page: pageOf(snapshot), status: snapshot.document.status }),
  },
  {
    path: "components.json",
    name: "Components",
    summary: "Components and groups",
    schema: V2ComponentsDocument,
    make: ({ snapshot }) => ({
      page: pageOf(snapshot),
      components: presentComponents(snapshot),
    }),
  },
  {
    path: "incidents.json",
    name: "Incidents",
    summary: "The 50 newest incidents",
    schema: V2IncidentsDocument,
    make: (source) => ({ page: pageOf(source.snapshot), incidents: newest(source) }),
  },
  {
    path: "incidents/unresolved.json",
    name: "UnresolvedIncidents",
    summary: "Unresolved incidents",
    schema: V2IncidentsDocument,
    make: (source) => ({ page: pageOf(source.snapshot), incidents: unresolved(source) }),
  },
  maintenanceDocument("scheduled-maintenances.json", {
    name: "Maintenances",
    summary: "The 50 newest maintenances",
    list: newestMaintenance,
  }),
  maintenanceDocument("scheduled-maintenances/upcoming.json", {
    name: "UpcomingMaintenances",
    summary: "Upcoming maintenance",
    list: (source) => notEnded(source).filter(({ row }) => !isUnderWay(row.status)),
  }),
  maintenanceDocument("scheduled-maintenances/active.json", {
    name: "ActiveMaintenances",
    summary: "Active maintenance",
    list: (source) => notEnded(source).filter(({ row }) => isUnderWay(row.status)),
  }),
];

function maintenanceDocument(
  path: string,
  of: { name: string; summary: string; list(source: Source): MaintenanceRecord[] },
): V2Document {
  const { name, summary } = of;
  const make = (source: Source) => ({
    page: pageOf(source.snapshot),
    scheduled_maintenances: presentAll(source, of.list(source)),
  });
  return { path, name, summary, schema: V2MaintenanceDocument, make };
}

function pageOf({ document }: Snapshot) {
  const { id, name, url, time_zone } = document.page;
  return { id, name, url, time_zone, updated_at: document.updated_at };
}

function unresolved({ snapshot }: Source) {
  const context = contextOf(snapshot);
  return withinLimit(snapshot.records.incidents.map((record) => presentIncident(record, context)));
}

function newest({ snapshot, reader, readIncidents }: Source) {
  const context = contextOf(snapshot);
  const pageId = snapshot.document.page.id;
  const records = listNewestIncidents(reader, { pageId, limit: LISTED_MAX }, readIncidents);
  return withinLimit(records.map((record) => presentIncident(record, context)));
}

function presentAll({ snapshot }: Source, records: readonly MaintenanceRecord[]) {
  const context = contextOf(snapshot);
  return withinLimit(records.map((record) => presentMaintenance(record, context)));
}

/** Bytes of the texts of all updates in one list. */
const TEXTS_MAX_BYTES = 1_048_576;
/** Bytes of them that each entry has for the beginning of its newest update and a link. */
const BEGINNING_BYTES = 1_500;
/** Length of that beginning, in code points of up to four bytes. */
const BEGINNING_MAX = 280;

interface Updated {
  shortlink: string;
  incident_updates: { body: string }[];
}

/**
 * Returns entries, newest first, with at most 1 MiB of texts. The texts of the first entries are used first. If an
 * update does not fit, it and the older ones of its entry are left out, and the text before it ends with a link
 * to the entry. Of the newest update of an entry at least the beginning is kept.
 */
function withinLimit<T extends Updated>(entries: readonly T[]): T[] {
  let left = Math.max(0, TEXTS_MAX_BYTES - entries.length * BEGINNING_BYTES);
  return entries.map((entry) => {
    const updates = entry.incident_updates;
    let whole = 0;
    for (const { body } of updates) {
      const bytes = Buffer.byteLength(body);
      if (bytes > left) break;
      left -= bytes;
      whole += 1;
    }
    const last = updates[Math.max(0, whole - 1)];
    if (whole === updates.length || last === undefined) return entry;
    // Enough UTF-16 units for all code points of the beginning.
    const points = Array.from(last.body.slice(0, 2 * BEGINNING_MAX));
    const text = whole > 0 ? last.body : `${points.slice(0, BEGINNING_MAX).join("")}…`;
    const cut = { ...last, body: `${text}\n\n[Further updates](${entry.shortlink})` };
    return { ...entry, incident_updates: [...updates.slice(0, Math.max(0, whole - 1)), cut] };
  });
}

/** Returns all maintenance that has not ended. The page itself shows only the next 30 days. */
function notEnded({ snapshot, reader, now }: Source): MaintenanceRecord[] {
  const pageId = snapshot.document.page.id;
  return listMaintenanceForPage(reader, { pageId, now, until: Number.MAX_SAFE_INTEGER });
}

/** Returns the maintenance that was planned last, with the next occurrence of each schedule only. */
function newestMaintenance(source: Source): MaintenanceRecord[] {
  const pageId = source.snapshot.document.page.id;
  const query = { pageId, isCancelled: 0, isOccurrence: 0, limit: LISTED_MAX };
  const next = notEnded(source).filter(
    ({ row }) => row.scheduleId !== null && row.status === "scheduled",
  );
  return [...listMaintenance(source.reader, query), ...next]
    .toSorted((a, b) => (a.row.id < b.row.id ? 1 : -1))
    .slice(0, LISTED_MAX);
}

function contextOf(snapshot: Snapshot): DocumentContext {
  const components = presentComponents(snapshot).filter(({ group }) => !group);
  return {
    components: new Map(components.map((component) => [component.id, component])),
    pageUrl: snapshot.document.page.url,
  };
}
