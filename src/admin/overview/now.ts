import type { Reader } from "../../db";
import { type IncidentRecord, listIncidents } from "../../features/incidents";
import { isUnderWay, type MaintenanceRecord } from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import type { Snapshot, Snapshots } from "../../features/status";
import { readPages } from "../read-pages";
import { type DeliveryTrouble, readDeliveryTroubles } from "../webhooks/troubles";

/** Open incidents on the overview; the list has all of them. */
const INCIDENTS_SHOWN = 10;
/** Maintenance to come; what is under way is always shown. */
const UPCOMING_SHOWN = 3;
/** More drafts than these are told as "more than". */
export const DRAFTS_COUNTED = 50;

/** How everything is at one moment. */
export interface Now {
  pages: readonly { page: PageRow; document: Snapshot["document"] }[];
  /** Open and published, of every page, the last started first: 10 at most, and how many there are. */
  incidents: readonly IncidentRecord[];
  openCount: number;
  /** Under way on any page, then what comes next. */
  maintenance: readonly MaintenanceRecord[];
  /** How many drafts wait to be published; one more than 50 where there are more. */
  draftCount: number;
  /** Who is not told of what happens. */
  troubles: readonly DeliveryTrouble[];
}

/** Reads it from the pages' snapshots, so that the first screen costs next to nothing. */
export function readNow(reader: Reader, snapshots: Snapshots, now: number): Now {
  const shown = readPages(reader).flatMap((page) => {
    const snapshot = snapshots.read(page.slug, now);
    return snapshot ? [{ page, snapshot }] : [];
  });
  const all = shown.map(({ snapshot }) => snapshot);
  const maintenance = all.flatMap(({ records }) => records.maintenance);
  return {
    pages: shown.map(({ page, snapshot }) => ({ page, document: snapshot.document })),
    incidents: all
      .flatMap(({ records }) => records.incidents)
      .sort((a, b) => b.row.startedAt - a.row.startedAt)
      .slice(0, INCIDENTS_SHOWN),
    openCount: all.reduce((sum, { openIncidentCount }) => sum + openIncidentCount, 0),
    maintenance: [
      ...inOrder(maintenance.filter(({ row }) => isUnderWay(row.status))),
      ...inOrder(maintenance.filter(({ row }) => row.status === "scheduled")).slice(
        0,
        UPCOMING_SHOWN,
      ),
    ],
    draftCount: listIncidents(reader, { isDraft: true, isOpen: true, limit: DRAFTS_COUNTED + 1 })
      .length,
    troubles: readDeliveryTroubles(reader, now),
  };
}

function inOrder(maintenance: readonly MaintenanceRecord[]): MaintenanceRecord[] {
  return maintenance.toSorted((a, b) => a.row.scheduledFor - b.row.scheduledFor);
}
