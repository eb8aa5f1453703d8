import type { Reader } from "../../db/statements";
import {
  countMaintenance,
  listMaintenance,
  listPendingMaintenance,
} from "../../features/maintenance/lists";
import { isUnderWay } from "../../features/maintenance/rules";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import { type ListQuery, readListQuery, readSearch } from "../../features/timeline/screens/list";

/** Views of the list: `all` shows what has not ended first, the others filter. */
export const LIST_VIEWS = ["all", "in_progress", "upcoming", "past"] as const;
export type ListView = (typeof LIST_VIEWS)[number];

/** Number of listed maintenances that have not ended; the list says if there are more. */
const PENDING_SHOWN = 100;
const PAGE_SIZE = 25;
/** Minimum number of past maintenances after many others. */
const PAST_MIN = 5;

/** Content of one screen of the list of maintenance. */
export interface MaintenanceListing extends ListQuery {
  view: ListView;
  search: string;
  /** Maintenances in progress, then upcoming ones by planned start, then past ones, the last planned first. */
  records: readonly MaintenanceRecord[];
  /** Number of listed upcoming maintenances if the view has more; else undefined. */
  upcomingShown: number | undefined;
  /** Numbers of maintenances that match the filters, by view. */
  counts: Readonly<Record<ListView, number>>;
  /** Id of the last past maintenance if more follow. */
  nextBefore: string | undefined;
}

/** Reads the list for a query. `before` continues past maintenance after that id. */
export function readMaintenanceList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): MaintenanceListing {
  const { pages, page, before } = readListQuery(reader, query);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = readSearch(query);
  const filter = { pageId: page?.id, search: search || null };
  const hasPending = view !== "past" && before === undefined;
  const pending = (
    hasPending ? listPendingMaintenance(reader, { ...filter, limit: PENDING_SHOWN }) : []
  ).filter(({ row }) => view === "all" || isUnderWay(row.status) === (view === "in_progress"));
  const limit = Math.max(PAST_MIN, PAGE_SIZE - pending.length);
  const ended =
    view === "all" || view === "past"
      ? listMaintenance(reader, { ...filter, isUpcoming: 0, isActive: 0, before, limit: limit + 1 })
      : [];
  const past = ended.slice(0, limit);
  const { inProgress, upcoming, past: pastCount } = countMaintenance(reader, filter);
  const upcomingShown = pending.filter(({ row }) => !isUnderWay(row.status)).length;
  const hasUpcoming = hasPending && view !== "in_progress";
  return {
    pages,
    page,
    before,
    view,
    search,
    records: [...pending, ...past],
    upcomingShown: hasUpcoming && upcomingShown < upcoming ? upcomingShown : undefined,
    counts: {
      all: inProgress + upcoming + pastCount,
      in_progress: inProgress,
      upcoming,
      past: pastCount,
    },
    nextBefore: ended.length > limit ? past.at(-1)?.row.id : undefined,
  };
}
