import type { Reader } from "../../db";
import {
  countMonitorsByState,
  listMonitors,
  type MonitorRecord,
  type Sparkline,
  sparklinesOf,
} from "../../features/monitors";
import type { PageRow } from "../../features/pages";
import {
  MONITOR_STATES,
  MONITOR_TYPES,
  type MonitorState,
  type MonitorType,
} from "../../domain/monitor-state";
import { readPages } from "../page-choice";

const PAGE_SIZE = 50;

/** Content of one screen of the list of monitors. */
export interface MonitorListing {
  pages: readonly PageRow[];
  /** Filters of the list. */
  page: PageRow | undefined;
  state: MonitorState | undefined;
  type: MonitorType | undefined;
  search: string;
  records: readonly MonitorRecord[];
  /** Sparklines by `num` of the monitor. */
  sparklines: ReadonlyMap<number, Sparkline>;
  /** Number of monitors in each state, regardless of filters. */
  counts: ReadonlyMap<MonitorState, number>;
  /**
   * Last id of this screen if more follow. `isContinued` is true for every screen but the first.
   */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/** Reads the monitors for a query. Invalid parameters are ignored. */
export function readMonitorList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): MonitorListing {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  const state = MONITOR_STATES.find((name) => name === query["state"]);
  const type = MONITOR_TYPES.find((name) => name === query["type"]);
  const search = (query["q"] ?? "").trim();
  const before = query["before"] || undefined;
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
    pages,
    page,
    state,
    type,
    search,
    records,
    sparklines: sparklinesOf(reader, nums, now),
    counts: new Map(
      countMonitorsByState(reader, {}).map(({ state: each, monitors }) => [each, monitors]),
    ),
    nextBefore: rows.length > PAGE_SIZE ? records.at(-1)?.row.id : undefined,
    isContinued: before !== undefined,
  };
}
