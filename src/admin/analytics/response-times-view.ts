import type { Reader } from "../../db/statements";
import { listMeasuringMonitors } from "../../features/analytics/store";
import type { MonitorName } from "../../features/analytics/subjects";
import { readPeriod } from "../../features/analytics/period";
import type { Span } from "../../features/components/history";
import { type LatencyTogether, latencyTogether } from "../../features/monitors/latency";
import { DAY_MS } from "../../base/time";
import { periodInput, type Selection } from "./selection";

/** Monitors whose response times are shown at most. The API returns those of others. */
export const MONITORS_MAX = 100;
/** Points of a chart at most. */
const POINTS_MAX = 92;

/** Response times of a monitor in a period. */
type MonitorTimes = LatencyTogether["each"][number] & { monitor: MonitorName };

export interface ResponseTimesView {
  selection: Selection;
  period: Span;
  /** Periods of the chart's points, oldest first: hours, days or several days. */
  steps: readonly Span[];
  /** Response times of all monitors, by step. */
  points: LatencyTogether["intervals"];
  total: LatencyTogether["total"];
  /** Monitors with the highest 95th percentile first, those without a response last. */
  monitors: readonly MonitorTimes[];
  /** True if monitors were left out because of `MONITORS_MAX`. */
  isTruncated: boolean;
  /** Time at which it was read, in unix ms. */
  now: number;
}

/** Reads the response times of a page's monitors, or of all monitors, except those that jobs call. */
export async function readResponseTimes(
  reader: Reader,
  selection: Selection,
  now: number,
): Promise<ResponseTimesView> {
  const pageId = selection.page?.id ?? null;
  const listed = listMeasuringMonitors(reader, { pageId, limit: MONITORS_MAX + 1 });
  const shown = listed.slice(0, MONITORS_MAX);
  const input = periodInput(selection.span, now);
  const { from, to } = readPeriod(input, now);
  const interval = to - from > DAY_MS ? "day" : "hour";
  const steps = groupsOf(readPeriod({ ...input, interval }, now).spans);
  const nums = shown.map(({ num }) => num);
  const { intervals, total, each } = await latencyTogether(reader, nums, steps);
  const monitors = shown.flatMap((monitor, index) => {
    const times = each[index];
    return times ? [{ monitor, ...times }] : [];
  });
  return {
    selection,
    period: { from, to },
    steps,
    points: intervals,
    total,
    monitors: monitors.toSorted((a, b) => (b.total.p95Ms ?? -1) - (a.total.p95Ms ?? -1)),
    isTruncated: listed.length > MONITORS_MAX,
    now,
  };
}

/** Joins consecutive spans so that at most `POINTS_MAX` remain. */
function groupsOf(spans: readonly Span[]): Span[] {
  const size = Math.ceil(spans.length / POINTS_MAX);
  return Array.from({ length: Math.ceil(spans.length / size) }, (_, index) => {
    const own = spans.slice(index * size, (index + 1) * size);
    return { from: own[0]?.from ?? 0, to: own.at(-1)?.to ?? 0 };
  });
}
