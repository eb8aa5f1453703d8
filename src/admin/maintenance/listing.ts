import type { Reader } from "../../db";
import {
  isUnderWay,
  listMaintenance,
  listPendingMaintenance,
  type MaintenanceRecord,
} from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import { readPages } from "../read-pages";

/** Listed maintenance that has not ended. The list says when more is left out. */
const PENDING_SHOWN = 100;
const PAST_SHOWN = 50;
/** Filters of past maintenance. */
const ENDED = { isUpcoming: 0, isActive: 0 };

/** Content of the list of maintenance. */
export interface MaintenanceListing {
  pages: readonly PageRow[];
  /** Page that the list is filtered by; undefined for all. */
  page: PageRow | undefined;
  underWay: readonly MaintenanceRecord[];
  /** Upcoming maintenance by planned start. */
  upcoming: readonly MaintenanceRecord[];
  /** Past maintenance, latest planned start first. */
  past: readonly MaintenanceRecord[];
  /** True if more maintenance is under way or upcoming than is listed. */
  isCut: boolean;
  /**
   * Id of the last past maintenance listed if more follow. `isContinued` is true for every part but
   * the first.
   */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/**
 * Reads the list for a query: `page` filters by slug, `before` continues past maintenance after
 * that id.
 */
export function readMaintenanceList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): MaintenanceListing {
  const pages = readPages(reader);
  const page = pages.find(({ slug }) => slug === query["page"]);
  const { before } = query;
  const past = listMaintenance(reader, {
    ...ENDED,
    pageId: page?.id,
    before: before || undefined,
    limit: PAST_SHOWN + 1,
  });
  const isContinued = Boolean(before);
  const pending = isContinued
    ? []
    : listPendingMaintenance(reader, { pageId: page?.id, limit: PENDING_SHOWN + 1 });
  const shown = pending.slice(0, PENDING_SHOWN);
  return {
    pages,
    page,
    underWay: shown.filter(({ row }) => isUnderWay(row.status)),
    upcoming: shown.filter(({ row }) => row.status === "scheduled"),
    past: past.slice(0, PAST_SHOWN),
    isCut: pending.length > PENDING_SHOWN,
    nextBefore: past.length > PAST_SHOWN ? past[PAST_SHOWN - 1]?.row.id : undefined,
    isContinued,
  };
}
