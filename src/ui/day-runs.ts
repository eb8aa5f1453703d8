import { COMPONENT_STATUSES, type ComponentStatus } from "../base/status";
import { STATUS_WORDS } from "./blocks";
import { duration, longDay } from "./times";

/** UTC day of a component, as charts show it. */
export interface StatusDay {
  /** `YYYY-MM-DD` in UTC. */
  day: string;
  /** Worst status of the day, or null without data. */
  status: ComponentStatus | null;
  /** Good share of the day, 0 to 1. */
  goodShare: number;
  /** Minutes in each status except operational. */
  minutes: Readonly<Partial<Record<ComponentStatus, number>>>;
  /** Minutes without data, on a day with some data. */
  noDataMinutes?: number;
  /** Incidents and maintenances of the day, worst first. */
  entries?: { named: readonly DayEntry[]; others: number } | undefined;
}

/** Incident or maintenance of a day. */
export interface DayEntry {
  name: string;
  /** Path of its page. */
  href: string;
}

/** One day, or consecutive days that are shown as one: fully operational, or without data. */
export interface DayRun {
  /** Position of the first day. */
  index: number;
  /** Number of days. */
  length: number;
  /** First day of the run; the others are equal except for the date. */
  day: StatusDay;
  /** "21 November 2026", or "1 November 2026 to 21 November 2026". */
  name: string;
  /** "Major outage" or "No data". */
  word: string;
  /**
   * "12 min", or "12 min major outage, 2 h no data" if there is more than the worst status: worst status
   * first, empty without minutes.
   */
  minutes: string;
}

/** Texts of a day and of a span of days (`YYYY-MM-DD`). */
interface DayWords {
  day(day: string): string;
  span(from: string, to: string): string;
}

const PLAIN_DAYS: DayWords = {
  day: longDay,
  span: (from, to) => `${longDay(from)} to ${longDay(to)}`,
};

/**
 * Groups consecutive days that were fully operational, and consecutive days without data. A quiet
 * history is then one element to draw, to skip by keyboard and to read aloud.
 */
export function runsOf(days: readonly StatusDay[], words: DayWords = PLAIN_DAYS): DayRun[] {
  const runs: DayRun[] = [];
  let first = 0;
  for (const [index, day] of days.entries()) {
    const next = days[index + 1];
    if (next && isUneventful(day) && isUneventful(next) && day.status === next.status) continue;
    const firstDay = days[first] ?? day;
    runs.push({
      index: first,
      length: index + 1 - first,
      day: firstDay,
      name: firstDay === day ? words.day(day.day) : words.span(firstDay.day, day.day),
      word: day.status === null ? "No data" : STATUS_WORDS[day.status],
      minutes: minutesOf(day),
    });
    first = index + 1;
  }
  return runs;
}

function isUneventful({ status, goodShare, entries }: StatusDay): boolean {
  if (entries) return false;
  return status === null || (status === "operational" && goodShare >= 1);
}

function minutesOf({ status: worst, minutes, noDataMinutes = 0 }: StatusDay): string {
  const statuses = COMPONENT_STATUSES.filter(
    (status) => status !== "operational" && minutes[status],
  );
  if (worst && noDataMinutes === 0 && statuses.length === 1 && statuses[0] === worst) {
    return duration(minutes[worst] ?? 0);
  }
  const texts: string[] = [];
  for (const status of COMPONENT_STATUSES) {
    const count = status === "operational" ? 0 : (minutes[status] ?? 0);
    if (count > 0) texts.unshift(`${duration(count)} ${STATUS_WORDS[status].toLowerCase()}`);
  }
  if (noDataMinutes > 0) texts.push(`${duration(noDataMinutes)} no data`);
  return texts.join(", ");
}
