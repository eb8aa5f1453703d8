/* Response times of monitors by interval, from rollups and results, and as sparklines. */
import { quantileOf } from "../../base/sketch";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time";
import type { Reader } from "../../db/statements";
import type { Span } from "../components/rules";
import { LOCAL } from "../../base/status";
import { ofLocations, ofMonitors, type Results } from "./checks-store";
import { type Figures, figuresFromRow, figuresOf, mergeFigures } from "./figures";
import { listLocationNums } from "./location-store";

/** Response times in ms; null without responses. Quantiles are accurate to 2 %. */
export interface LatencyFigures {
  /** Checks with a known outcome, and the failed ones among them. */
  checks: number;
  failures: number;
  /** Checks with a response, good or bad, which the following figures are about. */
  count: number;
  avgMs: number | null;
  minMs: number | null;
  maxMs: number | null;
  p50Ms: number | null;
  p90Ms: number | null;
  p95Ms: number | null;
  p99Ms: number | null;
}

/** Results of a monitor at one location. */
interface Series {
  locationId: string;
  results: Results;
  /** Number by which `results` has them. */
  num: number;
}

/**
 * Returns the results of monitors by their numbers: of one location (an id), or of all, also of former ones. One
 * statement for any number of monitors.
 */
export function seriesOf(
  reader: Reader,
  nums: readonly number[],
  location?: string,
): Map<number, Series[]> {
  const isWanted = (id: string) => location === undefined || location === id;
  const own = (num: number) =>
    isWanted(LOCAL) ? [{ locationId: LOCAL, results: ofMonitors, num }] : [];
  const series = new Map<number, Series[]>(nums.map((num) => [num, own(num)]));
  if (location === LOCAL) return series;
  for (const { monitorNum, num, locationId } of listLocationNums(reader, {
    nums: JSON.stringify(nums),
  })) {
    if (isWanted(locationId))
      series.get(monitorNum)?.push({ locationId, results: ofLocations, num });
  }
  return series;
}

/** Sizes of rollups, the largest first. */
const SIZES = [DAY_MS, HOUR_MS, MINUTE_MS] as const;

/**
 * Returns the response times of each monitor by interval, and of all together. The intervals follow
 * one another without a gap, oldest first (unix ms, end exclusive). Rollups are counted by whole
 * minutes, or where those have been deleted by whole hours or days; the rest is counted by result. `location` is the id
 * of one location; without it, all count together.
 */
export function latencyOfEach(
  reader: Reader,
  nums: readonly number[],
  intervals: readonly Span[],
  location?: string,
): { each: LatencyFigures[][]; total: LatencyFigures } {
  const series = seriesOf(reader, nums, location);
  const each = nums.map((num) => figuresByInterval(reader, series.get(num) ?? [], intervals));
  return {
    each: each.map((figures) => figures.map(presentFigures)),
    total: presentFigures(mergeFigures(each.flat())),
  };
}

/** Response times of several monitors in consecutive intervals. */
export interface LatencyTogether {
  /** Response times of all monitors together, by interval. */
  intervals: readonly LatencyFigures[];
  total: LatencyFigures;
  /** Response times of each monitor in the whole time, with the median of each interval. */
  each: readonly { total: LatencyFigures; medians: readonly (number | null)[] }[];
}

/**
 * Returns the response times of monitors by interval, as `latencyOfEach` counts them. Each monitor is
 * read in its own turn of the event loop.
 */
export async function latencyTogether(
  reader: Reader,
  nums: readonly number[],
  intervals: readonly Span[],
): Promise<LatencyTogether> {
  let whole = intervals.map(() => mergeFigures([]));
  const each: LatencyTogether["each"][number][] = [];
  const series = seriesOf(reader, nums);
  for (const [index, num] of nums.entries()) {
    // oxlint-disable-next-line no-await-in-loop
    if (index > 0) await new Promise(setImmediate);
    const own = figuresByInterval(reader, series.get(num) ?? [], intervals);
    const medians = own.map((figures) => presentFigures(figures).p50Ms);
    each.push({ total: presentFigures(mergeFigures(own)), medians });
    whole = whole.map((figures, at) => mergeFigures([figures, own[at] ?? mergeFigures([])]));
  }
  return {
    intervals: whole.map(presentFigures),
    total: presentFigures(mergeFigures(whole)),
    each,
  };
}

function figuresByInterval(
  reader: Reader,
  series: readonly Series[],
  intervals: readonly Span[],
): Figures[] {
  const [from, to] = [intervals[0]?.from, intervals.at(-1)?.to];
  if (from === undefined || to === undefined) return [];
  const parts = intervals.map((): Figures[] => []);
  // No rollup may overlap two intervals.
  const isWhole = (size: number) =>
    intervals.every(({ from: edge }, i) => i === 0 || edge % size === 0);
  const sizes = SIZES.filter(isWhole);
  for (const { results: stored, num } of series) {
    const params = { nums: JSON.stringify([num]) };
    const rolledUntil = stored.findLeastRolledUntil(reader, params)?.at ?? from;
    for (const piece of piecesOf({ from, to }, rolledUntil, sizes)) {
      for (const { row } of stored.listRollupsOfMonitors(reader, { ...params, ...piece })) {
        parts[intervalIndexOf(intervals, row.at)]?.push(figuresFromRow(row));
      }
    }
    const results = stored.listUnrolledResults(reader, { ...params, from, to });
    for (const [index, own] of Map.groupBy(results, ({ at }) => intervalIndexOf(intervals, at))) {
      parts[index]?.push(figuresOf(own));
    }
  }
  return parts.map(mergeFigures);
}

interface Piece extends Span {
  size: number;
}

/**
 * Divides a span into rollups: the largest size that fits, and smaller ones at both ends. Days that
 * are not over by `rolledUntil`, that of the monitor that is furthest behind, are divided into
 * smaller ones; missing smaller rollups are not found.
 */
export function piecesOf(span: Span, rolledUntil: number, sizes: readonly number[]): Piece[] {
  const [size, ...smaller] = sizes;
  if (size === undefined || span.from >= span.to) return [];
  const from = Math.ceil(span.from / size) * size;
  const end = size === DAY_MS ? Math.min(span.to, rolledUntil) : span.to;
  const to = Math.floor(end / size) * size;
  if (from >= to) return piecesOf(span, rolledUntil, smaller);
  return [
    ...piecesOf({ from: span.from, to: from }, rolledUntil, smaller),
    { size, from, to },
    ...piecesOf({ from: to, to: span.to }, rolledUntil, smaller),
  ];
}

/** Returns the index of the interval that contains a time. */
function intervalIndexOf(intervals: readonly Span[], at: number): number {
  let low = 0;
  let high = intervals.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((intervals[middle]?.from ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function presentFigures({ latencies, ...figures }: Figures): LatencyFigures {
  const {
    checks,
    failures,
    answers: count,
    latencySum,
    latencyMin: minMs,
    latencyMax: maxMs,
  } = figures;
  const quantile = (part: number) => {
    const value = quantileOf(latencies, part);
    if (value === null || minMs === null || maxMs === null) return null;
    // A sketch returns the middle of a bucket, which may lie outside of the measured range.
    return Math.min(maxMs, Math.max(minMs, Math.round(value)));
  };
  return {
    checks,
    failures,
    count,
    avgMs: latencySum === null ? null : Math.round((latencySum / count) * 10) / 10,
    minMs,
    maxMs,
    p50Ms: quantile(0.5),
    p90Ms: quantile(0.9),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  };
}

/** Number of values of a sparkline. */
const SPARKLINE_VALUES = 24;
/** Number of hours from which hourly averages are used. */
const HOURS_AT_LEAST = 2;

/** Response times in ms, oldest first; null without a response. */
export interface SparklineData {
  /** Kind of the values: averages of an hour, or single checks. */
  of: "hours" | "checks";
  values: (number | null)[];
}

/**
 * Returns the sparklines of monitors by `num`: the 24 hours that are rolled up by `now` (unix ms),
 * or the newest checks until then of a monitor with fewer than two hours. An hour is the median of the averages of its
 * locations. A few statements for any number of monitors.
 */
export function sparklinesOf(
  reader: Reader,
  nums: readonly number[],
  now: number,
): Map<number, SparklineData> {
  // The current hour is not rolled up, nor is the one before in its first minutes.
  const lines = new Map<number, SparklineData>();
  const present = now - (now % HOUR_MS);
  const from = present - SPARKLINE_VALUES * HOUR_MS;
  const series = seriesOf(reader, nums);
  const hours = readEach(series, nums, (results, own) =>
    results.listHourAverages(reader, { nums: own, from }),
  );
  const young: number[] = [];
  for (const num of nums) {
    const own = (hours.get(num) ?? []).filter(({ at }) => at < present);
    const byHour = Map.groupBy(own, ({ at }) => (at - from) / HOUR_MS);
    if (byHour.size < HOURS_AT_LEAST) {
      young.push(num);
      continue;
    }
    const values = Array.from({ length: SPARKLINE_VALUES }, (_, hour) =>
      medianOf((byHour.get(hour) ?? []).map(averageOf)),
    );
    lines.set(num, { of: "hours", values });
  }
  if (young.length === 0) return lines;
  const newest = readEach(series, young, (results, own) =>
    results
      .listNewestChecks(reader, { nums: own, each: SPARKLINE_VALUES, until: now })
      .map(({ row }) => row),
  );
  for (const [num, checks] of newest) {
    // Each location has its newest ones, oldest first.
    const values = checks.sort((a, b) => a.at - b.at).slice(-SPARKLINE_VALUES);
    lines.set(num, { of: "checks", values: values.map(({ latencyMs }) => latencyMs) });
  }
  return lines;
}

/**
 * Returns rows of some monitors at all their locations by the numbers of the monitors. `read` gets the statements of
 * some of them, and their numbers as a JSON list.
 */
function readEach<Row extends { monitorNum: number }>(
  series: ReadonlyMap<number, readonly Series[]>,
  monitors: readonly number[],
  read: (results: Results, nums: string) => Row[],
): Map<number, Row[]> {
  const owned = monitors.flatMap((owner) =>
    (series.get(owner) ?? []).map(({ results, num }) => ({ results, num, owner })),
  );
  const rows = new Map<number, Row[]>(monitors.map((owner) => [owner, []]));
  for (const [results, own] of Map.groupBy(owned, ({ results: each }) => each)) {
    const owners = new Map(own.map(({ num, owner }) => [num, owner]));
    for (const row of read(results, JSON.stringify([...owners.keys()]))) {
      rows.get(owners.get(row.monitorNum) ?? row.monitorNum)?.push(row);
    }
  }
  return rows;
}

function averageOf({ latencySum, answers }: { latencySum: number | null; answers: number }) {
  return latencySum === null ? null : Math.round(latencySum / answers);
}

/** Returns the median of values, of two the one between them; null without any. */
function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  const upper = known[known.length >> 1];
  if (upper === undefined) return null;
  const lower = known[(known.length - 1) >> 1] ?? upper;
  return Math.round((lower + upper) / 2);
}
