import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time";
import type { HistorySum } from "../source";

/** Sums of a monitor, by the start of their minute, hour or day. */
type SumsByTime = ReadonlyMap<number, HistorySum>;

/** Sums of a monitor by size. */
export interface Sums {
  minutes: SumsByTime;
  hours: SumsByTime;
  days: SumsByTime;
}

/** Orders sums by size and time. Those of other sizes and times are left out. */
export function sumsBySize(sums: readonly HistorySum[]): Sums {
  const ofSize = (size: number) => {
    const own = sums.filter((sum) => sum.size === size && sum.at % size === 0 && countOf(sum) > 0);
    return new Map(own.map((sum) => [sum.at, sum]));
  };
  return { minutes: ofSize(MINUTE_MS), hours: ofSize(HOUR_MS), days: ofSize(DAY_MS) };
}

/**
 * Returns sums without overlaps, in the order of time. Of several sizes the smallest are taken that count everything,
 * since a larger one may also have been without data for a part of its time.
 */
export function distinctSums({ minutes, hours, days }: Sums): HistorySum[] {
  const minutesOf = Map.groupBy(minutes.values(), ({ at }) => at - (at % HOUR_MS));
  const hoursOf = Map.groupBy(
    new Set([...hours.keys(), ...minutesOf.keys()]),
    (at) => at - (at % DAY_MS),
  );
  const ofHour = (at: number) => smallest(hours.get(at), minutesOf.get(at) ?? []);
  const ofDay = (at: number) => smallest(days.get(at), (hoursOf.get(at) ?? []).flatMap(ofHour));
  const all = [...new Set([...days.keys(), ...hoursOf.keys()])].flatMap(ofDay);
  return all.sort((a, b) => a.at - b.at);
}

function smallest(whole: HistorySum | undefined, parts: readonly HistorySum[]) {
  if (!whole) return parts;
  const counted = parts.reduce((total, part) => total + countOf(part), 0);
  return counted >= countOf(whole) ? parts : [whole];
}

function countOf({ checks, maintenance }: HistorySum): number {
  return checks + maintenance;
}
