import { badnessOf, type CauseSource, worstStatus } from "../../base/status";
import { DAY_MS, startOfDay } from "../../base/time";
import type { CauseInterval } from "../components/rules";

/** Maximum number of incidents and maintenances of a day that are named. */
const NAMED_MAX = 3;

/** Cause with the object that gives it. */
export interface SourcedCause extends CauseInterval {
  source: CauseSource;
  sourceId: string;
}

/** Incidents and maintenances that affected a component on one day. */
export interface DayEntries {
  /** Ids of the first ones, worst first, then earliest first. */
  ids: readonly string[];
  /** Number of the others. */
  others: number;
}

/**
 * Returns the incidents and maintenances of the last `dayCount` UTC days up to `now` (unix ms) by start of
 * the day. Days without any are left out. Its time is proportional to the number of causes times their days.
 */
export function entriesByDay(
  causes: readonly SourcedCause[],
  dayCount: number,
  now: number,
): Map<number, DayEntries> {
  const firstDay = startOfDay(now) - (dayCount - 1) * DAY_MS;
  const indexOf = (at: number) => Math.floor((at - firstDay) / DAY_MS);
  const days = new Map<number, { ids: string[]; others: number }>();
  for (const { id, own } of worstFirst(causes)) {
    let next = 0;
    for (const { startedAt, endedAt } of own) {
      // The end is exclusive.
      const end = Math.max(startedAt, Math.min(now, (endedAt ?? Infinity) - 1));
      const last = Math.min(dayCount - 1, indexOf(end));
      for (next = Math.max(next, indexOf(startedAt)); next <= last; next += 1) {
        const start = firstDay + next * DAY_MS;
        const day = days.get(start);
        if (!day) days.set(start, { ids: [id], others: 0 });
        else if (day.ids.length < NAMED_MAX) day.ids.push(id);
        else day.others += 1;
      }
    }
  }
  return days;
}

/** Groups causes by incident and maintenance, worst first, each with its causes in the order of time. */
function worstFirst(causes: readonly SourcedCause[]) {
  const entries = causes.filter(({ source }) => source === "incident" || source === "maintenance");
  return Array.from(
    Map.groupBy(entries, ({ sourceId }) => sourceId),
    ([id, own]) => ({
      id,
      severity: badnessOf(worstStatus(own.map(({ status }) => status))),
      own: own.toSorted((a, b) => a.startedAt - b.startedAt),
    }),
  ).sort(
    (a, b) =>
      b.severity - a.severity ||
      (a.own[0]?.startedAt ?? 0) - (b.own[0]?.startedAt ?? 0) ||
      (a.id < b.id ? -1 : 1),
  );
}
