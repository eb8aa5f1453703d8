import type { Reader } from "../../db/statements";
import { HOUR_MS } from "../../base/time";
import { listNewestChecks } from "./checks-store";
import { listHourAverages } from "./records-store";

/** Number of values of a sparkline. */
export const SPARKLINE_VALUES = 24;
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
 * or the newest checks until then of a monitor with fewer than two hours. Two statements for any number of
 * monitors.
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
  const hours = Map.groupBy(
    listHourAverages(reader, { nums: JSON.stringify(nums), from }),
    ({ monitorNum }) => monitorNum,
  );
  const young: number[] = [];
  for (const num of nums) {
    const own = hours.get(num)?.filter(({ at }) => at < present) ?? [];
    if (own.length < HOURS_AT_LEAST) {
      young.push(num);
      continue;
    }
    const values: (number | null)[] = Array.from({ length: SPARKLINE_VALUES }, () => null);
    for (const hour of own) values[(hour.at - from) / HOUR_MS] = averageOf(hour);
    lines.set(num, { of: "hours", values });
  }
  for (const num of young) lines.set(num, { of: "checks", values: [] });
  if (young.length === 0) return lines;
  const newest = { nums: JSON.stringify(young), each: SPARKLINE_VALUES, until: now };
  for (const { row } of listNewestChecks(reader, newest)) {
    lines.get(row.monitorNum)?.values.push(row.latencyMs);
  }
  return lines;
}

function averageOf({ latencySum, answers }: { latencySum: number | null; answers: number }) {
  return latencySum === null ? null : Math.round(latencySum / answers);
}
