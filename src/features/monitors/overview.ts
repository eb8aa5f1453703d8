import type { MonitorState, MonitorType } from "../../base/status";
import { DAY_MS } from "../../base/time";
import { type Order, partOf, readPlace } from "../../db/orders";
import type { Reader } from "../../db/statements";
import {
  countMatches,
  findOrderName,
  listInOrder,
  listWorstFirst,
  PERIOD_MS,
  sumRecentSpans,
  WORST_FIRST,
} from "./overview-store";
import { assembleRecords, type MonitorRecord, tagParam } from "./records";
import { noTimes, uptimeOf } from "./uptime";

/** Filters of the list. An omitted filter matches everything. */
interface OverviewFilters {
  pageId?: string | undefined;
  type?: MonitorType | undefined;
  tag?: string | undefined;
  group?: string | undefined;
  /** Text within the name, the address or the name of a component. */
  search?: string | undefined;
}

/** Columns by which the list can be ordered. */
export const ORDER_KEYS = ["name", "response", "checked"] as const;

export type ListOrder = Order<(typeof ORDER_KEYS)[number]>;

/** Number of periods that the last day is divided into. */
const PERIODS = 48;

/** Maximum number of spans read of a monitor: 25 monitors with 1,000 take 26 ms, with 2,000 72 ms. */
const SPANS_MAX = 1_000;

/** Worst state of a period. `unknown`: nothing was measured. */
export type PeriodState = "unknown" | "ok" | "maintenance" | "slow" | "failed";

/** Last 24 hours and 30 days of a monitor. */
export interface RecentTimes {
  /** Periods of half an hour in UTC, oldest first; the last one is incomplete. */
  periods: readonly PeriodState[];
  /** Uptime by time; null if nothing is known, or too many changes would have to be read. */
  dayUptime: number | null;
  monthUptime: number | null;
}

const PERIOD_STATES: Readonly<Record<MonitorState, PeriodState>> = {
  pending: "unknown",
  no_data: "unknown",
  paused: "unknown",
  unreachable: "unknown",
  up: "ok",
  maintenance: "maintenance",
  degraded: "slow",
  down: "failed",
};

const SEVERITY: readonly PeriodState[] = ["unknown", "ok", "maintenance", "slow", "failed"];

/** Monitors of a part of the list, and the place of the last one if more follow. */
interface MonitorPart {
  records: MonitorRecord[];
  nextBefore: string | undefined;
}

/**
 * Lists monitors after a place, worst state first and then by name, or in another order, in several turns of the event
 * loop (`runInSlices`). A place stays the same when its monitor changes or is deleted, so that the next part of the list
 * neither repeats nor leaves out others. An unknown place is before the first monitor.
 */
export function* listMonitorsInOrder(
  reader: Reader,
  query: OverviewFilters & {
    state?: MonitorState | undefined;
    /** Undefined for the worst first. */
    order?: ListOrder | undefined;
    after?: string | undefined;
    limit: number;
  },
): Generator<number, MonitorPart> {
  const { order, after, limit } = query;
  const filters = { ...filtersOf(query), state: query.state ?? null, limit: limit + 1 };
  if (order === undefined) {
    const place = after === undefined ? undefined : readStatePlace(reader, after);
    const rows = yield* listWorstFirst(reader, {
      ...filters,
      afterRank: place?.rank ?? -1,
      afterName: place?.name ?? "",
      afterId: place?.id ?? "",
    });
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      records: assembleRecords(reader, rows.slice(0, limit)),
      nextBefore: last && `${last.state.state}.${last.row.id}`,
    };
  }
  const rows = yield* listInOrder[order](reader, { ...filters, ...readPlace(after) });
  const { shown, nextBefore } = partOf(rows, limit, ({ row }) => row.id);
  return { records: assembleRecords(reader, shown), nextBefore };
}

/** Reads the place of a monitor in the list of the worst first: its state and id. */
function readStatePlace(reader: Reader, place: string) {
  const [state = "", id = ""] = place.split(".");
  const rank = WORST_FIRST.findIndex((each) => each === state);
  const found = rank === -1 ? undefined : findOrderName(reader, { id });
  return found && { rank, id, name: found.name };
}

/** Counts the monitors that match filters, by state, in several turns. */
export function* countMonitorsMatching(
  reader: Reader,
  filters: OverviewFilters,
): Generator<number, Map<MonitorState, number>> {
  const counts = new Map<MonitorState, number>();
  const rows = yield* countMatches(reader, { ...filtersOf(filters), limit: Infinity });
  for (const { state, monitors } of rows) counts.set(state, (counts.get(state) ?? 0) + monitors);
  return counts;
}

/** Reads the last 24 hours and 30 days of monitors up to `now` (unix ms), by `num`, in one statement. */
export function recentTimesOf(
  reader: Reader,
  nums: readonly number[],
  now: number,
): Map<number, RecentTimes> {
  const barsFrom = (Math.floor((now - 1) / PERIOD_MS) - PERIODS + 1) * PERIOD_MS;
  const rows = sumRecentSpans(reader, {
    nums: JSON.stringify(nums),
    now,
    monthFrom: now - 30 * DAY_MS,
    dayFrom: now - DAY_MS,
    barsFrom,
    spansMax: SPANS_MAX,
  });
  return new Map(
    Array.from(
      Map.groupBy(rows, ({ monitorNum }) => monitorNum),
      ([num, own]) => [num, recentTimes(own, { barsFrom, dayFrom: now - DAY_MS })],
    ),
  );
}

function recentTimes(
  rows: ReturnType<typeof sumRecentSpans>,
  { barsFrom, dayFrom }: { barsFrom: number; dayFrom: number },
): RecentTimes {
  const periods: PeriodState[] = Array.from({ length: PERIODS }, () => "unknown");
  const [day, month] = [noTimes(), noTimes()];
  let spans = 0;
  let from = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    day[row.state] += row.dayMs;
    month[row.state] += row.monthMs;
    spans += row.spans;
    from = Math.min(from, row.from);
    if (row.to <= barsFrom) continue;
    const state = PERIOD_STATES[row.state];
    const first = Math.max(0, Math.floor((row.from - barsFrom) / PERIOD_MS));
    const last = Math.min(PERIODS - 1, Math.ceil((row.to - barsFrom) / PERIOD_MS) - 1);
    for (let index = first; index <= last; index++) {
      const before = periods[index] ?? "unknown";
      if (SEVERITY.indexOf(state) > SEVERITY.indexOf(before)) periods[index] = state;
    }
  }
  // Earlier spans were not read.
  const isCut = spans > SPANS_MAX;
  return {
    periods,
    dayUptime: isCut && from > dayFrom ? null : uptimeOf(day),
    monthUptime: isCut ? null : uptimeOf(month),
  };
}

function filtersOf({ pageId, type, tag, group, search }: OverviewFilters) {
  return {
    pageId: pageId ?? null,
    type: type ?? null,
    tag: tagParam(tag),
    group: group ?? null,
    search: search ?? null,
  };
}
