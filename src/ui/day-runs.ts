import { COMPONENT_STATUSES, type ComponentStatus } from "../domain/component-status";
import { STATUS_WORDS } from "./labels";
import { duration, longDay } from "./times";

export interface StatusDay {
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** The worst of the day; null where nothing is known of it. */
  status: ComponentStatus | null;
  /** Good share of the day, 0 to 1. */
  goodShare: number;
  /** Minutes in each status but operational. */
  minutes: Readonly<Partial<Record<ComponentStatus, number>>>;
  /** Minutes of which nothing is known, on a day of which something is. */
  noDataMinutes?: number;
}

/** Days one after another of which the same is told: one by itself, or several that were all alike. */
export interface DayRun {
  /** The place of its first day among the days, and how many they are. */
  index: number;
  length: number;
  /** Its first day, which stands for all of them. */
  day: StatusDay;
  /** "21 November 2026", or "1 November 2026 to 21 November 2026". */
  name: string;
  /** "Major outage", "No data". */
  word: string;
  /** "12 min major outage, 2 h no data": worst first, empty where there is nothing. */
  minutes: string;
}

/** Words for days and their statuses. */
export interface DayWords {
  day(day: string): string;
  span(from: string, to: string): string;
}

const PLAIN_DAYS: DayWords = {
  day: longDay,
  span: (from, to) => `${longDay(from)} to ${longDay(to)}`,
};

/**
 * Days as runs: those next to each other that were wholly operational, or of which nothing is known,
 * are told together. A quiet history is then one thing to draw, to step over and to hear of.
 */
export function runsOf(days: readonly StatusDay[], words: DayWords = PLAIN_DAYS): DayRun[] {
  const runs: DayRun[] = [];
  let index = 0;
  for (const [place, day] of days.entries()) {
    const next = days[place + 1];
    if (next && isUneventful(day) && isUneventful(next) && day.status === next.status) continue;
    const first = days[index] ?? day;
    runs.push({
      index,
      length: place + 1 - index,
      day: first,
      name: first === day ? words.day(day.day) : words.span(first.day, day.day),
      word: day.status === null ? "No data" : STATUS_WORDS[day.status],
      minutes: minutesOf(day),
    });
    index = place + 1;
  }
  return runs;
}

function isUneventful({ status, goodShare }: StatusDay): boolean {
  return status === null || (status === "operational" && goodShare >= 1);
}

function minutesOf({ minutes, noDataMinutes = 0 }: StatusDay): string {
  const told: string[] = [];
  for (const status of COMPONENT_STATUSES) {
    const count = status === "operational" ? 0 : (minutes[status] ?? 0);
    if (count > 0) told.unshift(`${duration(count)} ${STATUS_WORDS[status].toLowerCase()}`);
  }
  if (noDataMinutes > 0) told.push(`${duration(noDataMinutes)} no data`);
  return told.join(", ");
}
