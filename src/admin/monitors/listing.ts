import type { Reader } from "../../db/statements";
import {
  countMonitorsMatching,
  listMonitorsInOrder,
  type ListOrder,
  placeOf,
  type RecentTimes,
  recentTimesOf,
} from "../../features/monitors/overview";
import { listMonitorGroups, listMonitorTags } from "../../features/monitors/overview-store";
import type { MonitorRecord } from "../../features/monitors/records";
import {
  MONITOR_STATES,
  MONITOR_TYPES,
  type MonitorState,
  type MonitorType,
} from "../../base/status";
import { sum } from "../../base/numbers";
import { type ListQuery, readListQuery, readSearch } from "../../features/timeline/screens/list";

const PAGE_SIZE = 25;
/** Maximum number of tags and of groups that filters offer. The chips of monitors filter by any. */
const OFFERED_MAX = 200;

/** Content of one screen of the list of monitors. */
export interface MonitorListing extends ListQuery {
  state: MonitorState | undefined;
  type: MonitorType | undefined;
  tag: string | undefined;
  /** Tags to choose from. */
  tags: readonly string[];
  group: string | undefined;
  /** Groups to choose from. */
  groups: readonly string[];
  search: string;
  order: ListOrder;
  records: readonly MonitorRecord[];
  /** Last 24 hours and 30 days by `num` of the monitor. */
  recent: ReadonlyMap<number, RecentTimes>;
  /** Number of monitors in each state that match the other filters. */
  counts: ReadonlyMap<MonitorState, number>;
  /** True if the installation has a monitor. */
  hasAny: boolean;
  /** Place of the last monitor if more follow. */
  nextBefore: string | undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Lists the ids of the monitors that match a query, at most `limit`. */
export function listMatchingIds(reader: Reader, query: Query, limit: number): string[] {
  const { filters, state } = readFilters(reader, query);
  return listMonitorsInOrder(reader, { ...filters, state, limit }).map(({ row }) => row.id);
}

function readFilters(reader: Reader, query: Query) {
  const list = readListQuery(reader, query);
  const state = MONITOR_STATES.find((name) => name === query["state"]);
  const type = MONITOR_TYPES.find((name) => name === query["type"]);
  const tag = readSearch(query, "tag") || undefined;
  const group = readSearch(query, "group") || undefined;
  const search = readSearch(query);
  const named = search === "" ? undefined : search;
  const filters = { pageId: list.page?.id, type, tag, group, search: named };
  return { list, state, type, tag, group, search, filters };
}

/** Reads the monitors for a query, worst first or by name. Invalid parameters are ignored. */
export function readMonitorList(reader: Reader, query: Query, now: number): MonitorListing {
  const { list, state, type, tag, group, search, filters } = readFilters(reader, query);
  const { before } = list;
  const order: ListOrder = query["sort"] === "name" ? "name" : "state";
  const rows = listMonitorsInOrder(reader, {
    ...filters,
    state,
    order,
    after: before,
    limit: PAGE_SIZE + 1,
  });
  const records = rows.slice(0, PAGE_SIZE);
  const last = records.at(-1);
  const nums = records.map(({ row }) => row.num);
  const counts = countMonitorsMatching(reader, filters);
  return {
    ...list,
    state,
    type,
    tag,
    tags: listMonitorTags(reader, { limit: OFFERED_MAX }).map((row) => row.tag),
    group,
    groups: listMonitorGroups(reader, { limit: OFFERED_MAX }).map((row) => row.group),
    search,
    order,
    records,
    recent: recentTimesOf(reader, nums, now),
    counts,
    hasAny: counts.size > 0 || countMonitorsMatching(reader, {}).size > 0,
    nextBefore: last && rows.length > PAGE_SIZE ? placeOf(last) : undefined,
  };
}

/** Returns the number of monitors that match the filters, in all states or in one. */
export function countOf({ counts }: MonitorListing, state: MonitorState | undefined): number {
  return state === undefined ? sum([...counts.values()]) : (counts.get(state) ?? 0);
}
