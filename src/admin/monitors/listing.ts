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
} from "../../kernel/monitor-state";
import { readPages } from "../read-pages";

const PAGE_SIZE = 50;

/** One screen of the list of monitors. */
export interface MonitorListing {
  pages: readonly PageRow[];
  /** What it is narrowed by. */
  page: PageRow | undefined;
  state: MonitorState | undefined;
  type: MonitorType | undefined;
  search: string;
  records: readonly MonitorRecord[];
  /** By `num`. */
  sparklines: ReadonlyMap<number, Sparkline>;
  /** How many there are in each state, whatever is shown. */
  counts: ReadonlyMap<MonitorState, number>;
  /** The id behind which the next screen begins, if there is one; and whether this is not the first. */
  nextBefore: string | undefined;
  isContinued: boolean;
}

/** Reads what the query of the list's address asks for; what it does not understand it lets be. */
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
  const found = listMonitors(reader, {
    pageId: page?.id,
    state,
    type,
    search: search === "" ? undefined : search,
    before,
    limit: PAGE_SIZE + 1,
  });
  const records = found.slice(0, PAGE_SIZE);
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
    nextBefore: found.length > PAGE_SIZE ? records.at(-1)?.row.id : undefined,
    isContinued: before !== undefined,
  };
}
