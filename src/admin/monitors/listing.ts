import type { Reader } from "../../db";
import {
  countMonitorsByState,
  listMonitors,
  type MonitorRecord,
  type Sparkline,
  sparklinesOf,
} from "../../features/monitors";
import {
  MONITOR_STATES,
  MONITOR_TYPES,
  type MonitorState,
  type MonitorType,
} from "../../domain/monitor-state";
import { type ListQuery, readListQuery } from "../timeline/list-frame";

const PAGE_SIZE = 50;

/** Content of one screen of the list of monitors. */
export interface MonitorListing extends ListQuery {
  state: MonitorState | undefined;
  type: MonitorType | undefined;
  search: string;
  records: readonly MonitorRecord[];
  /** Sparklines by `num` of the monitor. */
  sparklines: ReadonlyMap<number, Sparkline>;
  /** Number of monitors in each state, regardless of filters. */
  counts: ReadonlyMap<MonitorState, number>;
  /** Id of the last monitor if more follow. */
  nextBefore: string | undefined;
}

/** Reads the monitors for a query. Invalid parameters are ignored. */
export function readMonitorList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): MonitorListing {
  const list = readListQuery(reader, query);
  const { page, before } = list;
  const state = MONITOR_STATES.find((name) => name === query["state"]);
  const type = MONITOR_TYPES.find((name) => name === query["type"]);
  const search = (query["q"] ?? "").trim();
  const rows = listMonitors(reader, {
    pageId: page?.id,
    state,
    type,
    search: search === "" ? undefined : search,
    before,
    limit: PAGE_SIZE + 1,
  });
  const records = rows.slice(0, PAGE_SIZE);
  const nums = records.map(({ row }) => row.num);
  return {
    ...list,
    state,
    type,
    search,
    records,
    sparklines: sparklinesOf(reader, nums, now),
    counts: new Map(
      countMonitorsByState(reader, {}).map(({ state: each, monitors }) => [each, monitors]),
    ),
    nextBefore: rows.length > PAGE_SIZE ? records.at(-1)?.row.id : undefined,
  };
}
