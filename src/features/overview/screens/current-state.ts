import type { Reader } from "../../../db/statements";
import { readPages } from "../../../ui/frame/page-choice";
import { listWatchedComponents } from "../../components/store";
import { countOutagesOfIncidents } from "../../incidents/outage-store";
import { type IncidentRecord, listIncidentsById, type ReadRecords } from "../../incidents/records";
import { listAllOpenIncidents, type OpenIncident } from "../../incidents/store";
import { listPendingMaintenance } from "../../maintenance/records";
import { isUnderWay, UPCOMING_MS } from "../../maintenance/rules";
import type { MaintenanceRecord } from "../../maintenance/store";
import type { PageRow } from "../../pages/store";
import { EMPTY_HEADLINE, type PageHeadline, readHeadlines } from "../../status/snapshots";

/** Maximum number of open incidents that are read. Further ones have no entries in “Needs attention”. */
const INCIDENTS_READ = 1_000;
/** Open incidents shown on the overview; the list shows all. */
const INCIDENTS_SHOWN = 10;
/** Maintenance under way, and upcoming maintenance, shown on the overview. */
const UNDER_WAY_SHOWN = 10;
const UPCOMING_SHOWN = 3;

/** Component, as far as the overview shows it. */
export type ShownComponent = ReturnType<typeof listWatchedComponents>[number];

/** Page with its headline. */
interface PageState {
  page: PageRow;
  headline: PageHeadline;
}

type OutageCount = ReturnType<typeof countOutagesOfIncidents>[number];

/** Current state of all pages, for the overview. */
export interface CurrentState {
  pages: readonly PageState[];
  /** Page names by id; undefined if there is only one page. */
  pageNames: ReadonlyMap<string, string> | undefined;
  /** Components of all pages except the sample page, in the order of each page. */
  components: readonly ShownComponent[];
  /** Open incidents of all pages, drafts included, in no order. */
  openIncidents: readonly OpenIncident[];
  /** Published open incidents, latest start first: 10 at most. */
  incidents: readonly IncidentRecord[];
  /** Numbers of monitors of open incidents, and of those that fail, by incident id. */
  outageCounts: ReadonlyMap<string, OutageCount>;
  /** Number of all published open incidents. */
  openCount: number;
  /** Maintenance under way on all pages, then upcoming maintenance. */
  maintenance: readonly MaintenanceRecord[];
}

/**
 * Reads the current state with a few statements, however many pages there are. Snapshots are not
 * used: after five minutes they would all be built in one turn of the event loop.
 */
export function readCurrentState(
  reader: Reader,
  readIncidents: ReadRecords,
  now: number,
): CurrentState {
  const headlines = readHeadlines(reader);
  const pages = readPages(reader).map((page) => ({
    page,
    headline: headlines.get(page.id) ?? EMPTY_HEADLINE,
  }));
  const openIncidents = listAllOpenIncidents(reader, { limit: INCIDENTS_READ });
  const shown = openIncidents
    .filter(({ isDraft }) => !isDraft)
    .sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
    .slice(0, INCIDENTS_SHOWN);
  return {
    pages,
    pageNames:
      pages.length > 1 ? new Map(pages.map(({ page }) => [page.id, page.name])) : undefined,
    components: listWatchedComponents(reader, {}),
    openIncidents,
    incidents: listIncidentsById(
      reader,
      shown.map(({ id }) => id),
      readIncidents,
    ),
    outageCounts: readOutageCounts(reader, openIncidents),
    openCount: pages.reduce((sum, { headline }) => sum + headline.openIncidentCount, 0),
    maintenance: readMaintenance(reader, now),
  };
}

function readMaintenance(reader: Reader, now: number): MaintenanceRecord[] {
  const pending = listPendingMaintenance(reader, {
    nextAt: now,
    limit: UNDER_WAY_SHOWN + UPCOMING_SHOWN,
  });
  const upcoming = pending.filter(
    ({ row }) => !isUnderWay(row.status) && row.scheduledFor <= now + UPCOMING_MS,
  );
  return [
    ...pending.filter(({ row }) => isUnderWay(row.status)).slice(0, UNDER_WAY_SHOWN),
    ...upcoming.slice(0, UPCOMING_SHOWN),
  ];
}

function readOutageCounts(
  reader: Reader,
  incidents: readonly OpenIncident[],
): CurrentState["outageCounts"] {
  if (incidents.length === 0) return new Map();
  const ids = JSON.stringify(incidents.map(({ id }) => id));
  const counts = countOutagesOfIncidents(reader, { ids });
  return new Map(counts.map((count) => [count.incidentId, count]));
}
