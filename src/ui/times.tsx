import type { Tone } from "../base/status";
import { plural } from "../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../base/time";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Units of relative times, each used for counts below `until`. */
const STEPS: readonly { until: number; ms: number; write: (count: number) => string }[] = [
  { until: 60, ms: SECOND_MS, write: (count) => `${count} s` },
  { until: 60, ms: MINUTE_MS, write: (count) => `${count} min` },
  { until: 24, ms: HOUR_MS, write: (count) => `${count} h` },
  { until: 365, ms: DAY_MS, write: (count) => plural(count, "day") },
  { until: Infinity, ms: 365 * DAY_MS, write: (count) => plural(count, "year") },
];

/**
 * Returns a time relative to now, such as "4 min ago" or "in 3 days". Both are unix ms. Past times are
 * rounded down. Future times are rounded to the nearest unit: 7 days less a second are "in 7 days".
 */
export function relativeTime(atMs: number, nowMs: number): string {
  const distance = Math.abs(atMs - nowMs);
  if (distance < SECOND_MS) return "just now";
  const isPast = atMs < nowMs;
  const count = isPast ? Math.floor : Math.round;
  for (const { until, ms, write } of STEPS) {
    const units = count(distance / ms);
    if (units < until) return isPast ? `${write(units)} ago` : `in ${write(units)}`;
  }
  return "long ago";
}

/** "21 November 2026, 14:32:05 UTC" for an ISO 8601 instant in UTC. */
export function exactTime(iso: string): string {
  return `${longDay(iso)}, ${secondTime(iso)} UTC`;
}

/** "21 November 2026" for an ISO 8601 instant in UTC, or its day. */
export function longDay(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${monthOf(iso)} ${iso.slice(0, 4)}`;
}

/** "21 Nov 2026" for an ISO 8601 instant in UTC, or its day. */
export function shortDay(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${monthOf(iso).slice(0, 3)} ${iso.slice(0, 4)}`;
}

/** Returns true if an ISO 8601 instant in UTC is on the day of `nowMs`, in UTC. */
function isToday(iso: string, nowMs: number): boolean {
  return iso.slice(0, 10) === toIso(nowMs).slice(0, 10);
}

/** "14:32" for an instant of today, "21 Nov, 14:32" for one of this year, else "21 Nov 2025". */
function clockTime(iso: string, nowMs: number): string {
  const time = iso.slice(11, 16);
  if (isToday(iso, nowMs)) return time;
  const day = shortDay(iso);
  const year = ` ${toIso(nowMs).slice(0, 4)}`;
  return day.endsWith(year) ? `${day.slice(0, -year.length)}, ${time}` : day;
}

/** "14:32:05" for an ISO 8601 instant in UTC. */
export function secondTime(iso: string): string {
  return iso.slice(11, 19);
}

/** "1 h 10 min" for a number of minutes, rounded to whole ones. */
export function duration(minutes: number): string {
  const whole = Math.round(minutes);
  const [hours, rest] = [Math.floor(whole / 60), whole % 60];
  if (hours === 0) return `${rest} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

/** Format of times in other time zones. `client.js` uses the same. */
const ZONED = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const;

/** "Europe/Berlin: Tue, 10 Mar 2026, 15:00 CET" for a time in unix ms. */
export function zoneTime(at: number, timeZone: string): string {
  return `${timeZone}: ${zoneFormat(timeZone).format(at)}`;
}

/** Returns the span between two times in unix ms, in a time zone that is named at its end. */
export function zoneSpan(from: number, until: number, timeZone: string): string {
  return zoneFormat(timeZone).formatRange(from, until);
}

function zoneFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", { ...ZONED, timeZone });
}

function monthOf(iso: string): string {
  return MONTHS[Number(iso.slice(5, 7)) - 1] ?? "";
}

interface RelativeTimeProps {
  /** ISO 8601 in UTC. */
  at: string;
  /** Unix ms. */
  now: number;
  /** Colour for a time that needs attention, such as an old last use or a near expiry. */
  tone?: Tone;
}

/** Time relative to now, with the exact time as tooltip. */
export function RelativeTime({ at, now, tone }: RelativeTimeProps) {
  return (
    <time class={tone ? `t-${tone} strong` : undefined} dateTime={at} title={exactTime(at)}>
      {relativeTime(Date.parse(at), now)}
    </time>
  );
}

/**
 * Day and time in UTC such as "Today, 13:54" or "21 Nov, 18:50", and the day of another year, with the
 * exact time as tooltip.
 */
export function DayTime({ at, now }: Omit<RelativeTimeProps, "tone">) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {isToday(at, now) ? "Today, " : ""}
      {clockTime(at, now)}
    </time>
  );
}

/** Time in UTC such as "14:23", with the day unless it is today, and the exact time as tooltip. */
export function ClockTime({ at, now }: Omit<RelativeTimeProps, "tone">) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {clockTime(at, now)}
    </time>
  );
}

/** Time in UTC such as "14:23:05", with the exact time as tooltip, for waits of some minutes at most. */
export function SecondTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {secondTime(at)}
    </time>
  );
}

/** Time in UTC such as "14:23, 9 min ago", or "21 Nov, 18:50" for another day. */
export function EventTime({ at, now }: Omit<RelativeTimeProps, "tone">) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {clockTime(at, now)}
      {isToday(at, now) ? `, ${relativeTime(Date.parse(at), now)}` : ""}
    </time>
  );
}

/** Day such as "21 Nov 2026", with the exact time as tooltip. `at` is ISO 8601 in UTC. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {shortDay(at)}
    </time>
  );
}

/** Formats the time between two ISO 8601 instants: "42 min", "1 h 10 min", "3 days 4 h". */
export function lasting(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  if (ms < MINUTE_MS) return "less than a minute";
  if (ms < 2 * DAY_MS) return duration(Math.floor(ms / MINUTE_MS));
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  return `${plural(Math.floor(ms / DAY_MS), "day")}${hours > 0 ? ` ${hours} h` : ""}`;
}

/** "124 ms", and "12.4 s" from ten seconds on. */
export function latencyText(ms: number): string {
  const whole = Math.round(ms);
  return whole < 10_000 ? `${whole} ms` : `${(whole / 1_000).toFixed(1)} s`;
}
