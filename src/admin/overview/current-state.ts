import type { Reader } from "../../db";
import type { IncidentRecord } from "../../features/incidents";
import { isUnderWay, type MaintenanceRecord } from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import type { Snapshot, Snapshots } from "../../features/status";
import { readPages } from "../page-choice";

/** Open incidents shown on the overview; the list shows all. */
const INCIDENTS_SHOWN = 10;
/** Maintenance under way, and upcoming maintenance, shown on the overview. */
const UNDER_WAY_SHOWN = 10;
const UPCOMING_SHOWN = 3;

/** Current state of all pages, for the overview. */
export interface CurrentState {
  pages: readonly { page: PageRow; document: Snapshot["document"] }[];
  /**
   * Open published incidents of all pages, latest start first, 10 at most. `openCount` counts all
   * of them.
   */
  incidents: readonly IncidentRecord[];
  openCount: number;
  /** Maintenance under way on all pages, then upcoming maintenance. */
  maintenance: readonly MaintenanceRecord[];
}

/** A component as the overview counts and names it. */
export type ShownComponent = Snapshot["document"]["components"][number];

/** Reads the current state from the pages' snapshots, which keeps the overview cheap. */
export function readCurrentState(reader: Reader, snapshots: Snapshots, now: number): CurrentState {
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
      ...byStart(maintenance.filter(({ row }) => isUnderWay(row.status))).slice(0, UNDER_WAY_SHOWN),
      ...byStart(maintenance.filter(({ row }) => row.status === "scheduled")).slice(
        0,
        UPCOMING_SHOWN,
      ),
    ],
  };
}

/** Returns the pages that people watch: the sample page is an example. */
export function withoutSample({ pages }: Pick<CurrentState, "pages">): CurrentState["pages"] {
  return pages.filter(({ page }) => !page.isSample);
}

function byStart(maintenance: readonly MaintenanceRecord[]): MaintenanceRecord[] {
  return maintenance.toSorted((a, b) => a.row.scheduledFor - b.row.scheduledFor);
}
