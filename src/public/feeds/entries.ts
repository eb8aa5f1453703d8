import type { Reader } from "../../db/statements";
import { type Incident, presentIncident } from "../../features/incidents/wire";
import { listNewestIncidents, type ReadRecords } from "../../features/incidents/records";
import { listMaintenance } from "../../features/maintenance/lists";
import { type Maintenance, presentMaintenance } from "../../features/maintenance/model";
import type { Snapshot } from "../../features/status/snapshot";
import type { TextBudget } from "../text-budget";
import { isUtcZone } from "../../base/time";
import { exactTime } from "../../ui/times";
import { createPageTimes } from "../page-times";
import { incidentContent, maintenanceContent, type TimeOf } from "./content";

/** Maximum number of entries of a feed. */
const ENTRIES_MAX = 50;

/** Entry of a feed: an incident or a maintenance with its updates. Times are ISO 8601. */
export interface Entry {
  id: string;
  url: string;
  name: string;
  /** Categories such as `incident`, `major` and `resolved`. */
  categories: readonly string[];
  publishedAt: string;
  /** Time of its last update or of its post-mortem. */
  lastUpdateAt: string;
  /** Time of its last change, including corrections. */
  changedAt: string;
  /** Renders its HTML within the budget of the feed. */
  content(budget: TextBudget): string;
}

/**
 * Returns the most recently updated incidents and maintenance of a page, latest first, with their times in the
 * page's time zone too. Candidates are the
 * ones on the status page, which shows the next occurrence of each schedule, and the newest others of both.
 */
export function listEntries(
  reader: Reader,
  snapshot: Snapshot,
  baseUrl: string,
  readIncidents?: ReadRecords,
): Entry[] {
  const { page, incidents, maintenance } = snapshot.document;
  const timeOf = isUtcZone(page.time_zone) ? exactTime : createPageTimes(page).moment;
  const newest = { pageId: page.id, limit: ENTRIES_MAX };
  const entries = [
    ...incidents.map((incident) => ofIncident(incident, timeOf)),
    ...listNewestIncidents(reader, newest, readIncidents).map((record) =>
      ofIncident(presentIncident(record, baseUrl), timeOf),
    ),
    ...maintenance.map((one) => ofMaintenance(one, timeOf)),
    ...listMaintenance(reader, { ...newest, isOccurrence: 0 }).map((record) =>
      ofMaintenance(presentMaintenance(record, baseUrl), timeOf),
    ),
  ];
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()]
    .sort((a, b) => compare(b.lastUpdateAt, a.lastUpdateAt) || compare(b.id, a.id))
    .slice(0, ENTRIES_MAX);
}

function ofIncident(incident: Incident, timeOf: TimeOf): Entry {
  const { id, url, name, status, impact, updates, postmortem } = incident;
  const { started_at, updated_at } = incident;
  const times = [started_at, ...updates.map((update) => update.display_at)];
  if (postmortem?.published_at) times.push(postmortem.published_at);
  return {
    id,
    url,
    name,
    categories: ["incident", ...(impact === "none" ? [] : [impact]), status],
    publishedAt: started_at,
    lastUpdateAt: latest(times),
    changedAt: updated_at,
    content: (budget) => incidentContent(incident, budget, timeOf),
  };
}

function ofMaintenance(maintenance: Maintenance, timeOf: TimeOf): Entry {
  const { id, url, name, status, created_at, updated_at, updates } = maintenance;
  return {
    id,
    url,
    name,
    categories: ["maintenance", status],
    publishedAt: created_at,
    lastUpdateAt: latest([created_at, ...updates.map((update) => update.display_at)]),
    changedAt: updated_at,
    content: (budget) => maintenanceContent(maintenance, budget, timeOf),
  };
}

function latest(instants: readonly string[]): string {
  return instants.reduce((a, b) => (a < b ? b : a));
}

/** Compares times or ids, both of which sort chronologically as text. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
