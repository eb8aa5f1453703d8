import type { Reader } from "../../db";
import {
  isUnderWay,
  listMaintenance,
  listPendingMaintenance,
  type MaintenanceRecord,
} from "../../features/maintenance";
import type { PageRow } from "../../features/pages";
import { readPages } from "../read-pages";

/** What has not ended and is listed; more of it is said to be left out. */
const PENDING_SHOWN = 100;
const PAST_SHOWN = 50;
/** Filters of the past: neither to come nor under way. */
const ENDED = { isUpcoming: 0, isActive: 0 };

/** What the list of maintenance shows. */
export interface MaintenanceListing {
  pages: readonly PageRow[];
  /** The one whose maintenance is listed; undefined for all. */
  page: PageRow | undefined;
  underWay: readonly MaintenanceRecord[];
  /** By their beginning. */
  upcoming: readonly MaintenanceRecord[];
  /** The last planned first. */
  past: readonly MaintenanceRecord[];
  /** Whether there is more under way or upcoming than is listed. */
  isCut: boolean;
  /** The id of the last past one, if more follow; and whether this is not the first part of the list. */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/** The part of the list that an address asks for: of the page `page`, what is over from behind `before` on. */
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
