import { crons } from "../../../base/cron";
import { DAY_MS, MINUTE_MS } from "../../../base/time";
import { isTimeZone } from "../../../base/zones";
import { UPCOMING_MS } from "../rules";

/** Maximum number of occurrences of one schedule in 30 days. */
export const OCCURRENCES_MAX = 200;

/** Limits of the search for an occurrence that `every_days` includes: days that it excludes, and time. */
const EXCLUDED_MAX = 400;
const SEARCHED_MS = 50 * 366 * DAY_MS;

/** Time after the first occurrence in which the distances of a new schedule are examined. */
const EXAMINED_MS = 400 * DAY_MS;

/** Columns of a schedule that decide when it occurs. Days are YYYY-MM-DD in the time zone. */
interface Calendar {
  cron: string;
  timeZone: string;
  /** Only every n-th day from `startsOn` on; null for every day. */
  everyDays: number | null;
  startsOn: string | null;
  endsOn: string | null;
}

/**
 * Lists at most `count` occurrences later than `after` and before `until` (unix ms), in order. None if this
 * build does not know the time zone.
 */
export function listOccurrences(
  { cron, timeZone, everyDays, startsOn, endsOn }: Calendar,
  after: number,
  { count, until = Infinity }: { count: number; until?: number },
): number[] {
  if (!isTimeZone(timeZone)) return [];
  const occurrences = crons().read(cron, timeZone);
  const firstDay = startsOn === null ? undefined : Temporal.PlainDate.from(startsOn);
  const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(timeZone).epochMilliseconds;
  const end = endsOn === null ? Infinity : startOf(Temporal.PlainDate.from(endsOn).add(ONE_DAY));
  const last = Math.min(until, end);
  let from = firstDay ? Math.max(after, startOf(firstDay) - 1) : after;
  if (everyDays === null || !firstDay) return occurrences.list(from, { count, until: last });
  const found: number[] = [];
  for (let excluded = 0; excluded < EXCLUDED_MAX && found.length < count;) {
    const at = occurrences.next(from);
    if (at === undefined || at >= last || at - after > SEARCHED_MS) break;
    const day = Temporal.Instant.fromEpochMilliseconds(at)
      .toZonedDateTimeISO(timeZone)
      .toPlainDate();
    const surplus = firstDay.until(day).days % everyDays;
    if (surplus === 0) found.push(at);
    excluded = surplus === 0 ? 0 : excluded + 1;
    from = surplus === 0 ? at : startOf(day.add({ days: everyDays - surplus })) - 1;
  }
  return found;
}

const ONE_DAY = { days: 1 };

/**
 * Returns the errors of a schedule whose fields are valid each: by field name, what is wrong. `now` is in
 * unix ms. Distances are those of a clock that is never changed.
 */
export function findScheduleErrors(
  schedule: Calendar & { durationMinutes: number },
  now: number,
): { field: string; detail: string }[] {
  const { timeZone, everyDays, startsOn, endsOn, durationMinutes } = schedule;
  if (!isTimeZone(timeZone)) {
    return [{ field: "time_zone", detail: "must be a time zone, such as Europe/Berlin" }];
  }
  if (everyDays !== null && startsOn === null) {
    return [{ field: "starts_on", detail: "is required with every_days, which counts from it" }];
  }
  if (startsOn !== null && endsOn !== null && endsOn < startsOn) {
    return [{ field: "ends_on", detail: "must not be earlier than the first day" }];
  }
  const calendar = { ...schedule, timeZone: "UTC", endsOn: null };
  const after = startsOn === null ? now : Date.parse(startsOn) - 1;
  const [first] = listOccurrences(calendar, after, { count: 1 });
  if (first === undefined) {
    const field = everyDays === null ? "starts_on" : "every_days";
    return [{ field, detail: "excludes every occurrence" }];
  }
  const until = first + EXAMINED_MS;
  const times = listOccurrences(calendar, first - 1, { count: 2 * OCCURRENCES_MAX, until });
  if (times.some((at, index) => (times[index + OCCURRENCES_MAX] ?? Infinity) - at < UPCOMING_MS)) {
    const detail = `occurs more than ${OCCURRENCES_MAX} times in ${UPCOMING_MS / DAY_MS} days, which is the most`;
    return [{ field: "cron", detail }];
  }
  const distances = times.slice(1).map((at, index) => at - (times[index] ?? at));
  const shortest = Math.min(...distances) / MINUTE_MS;
  if (durationMinutes <= shortest) return [];
  const detail = `is longer than the ${shortest} minutes until the next occurrence`;
  return [{ field: "duration_minutes", detail }];
}
