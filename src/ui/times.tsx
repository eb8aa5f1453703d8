import { LRUCache } from "lru-cache";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { lazy } from "../base/lazy";
import type { Tone } from "../base/status";
import { plural } from "../base/text";
import { DAY_MS, HOUR_MS, isUtcZone, MINUTE_MS, SECOND_MS, toIso } from "../base/time";
import { localTime, zoneNameAt } from "../base/zones";

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

/*
 * Time zone of the reader, in which the components below show times. Screens of the dashboard set that of their user.
 * Everything else is in UTC.
 */
const ReaderZone = createContext("UTC");

/** Sets the time zone in which its content shows times. */
export const InZone = ReaderZone.Provider;

/** Returns the time zone in which a component shows times. */
export function useZone(): string {
  return useContext(ReaderZone);
}

/** "21 November 2026, 14:32:05 UTC" for an ISO 8601 instant in UTC. */
export function exactTime(iso: string): string {
  return `${longDay(iso)}, ${secondTime(iso)} UTC`;
}

/** Returns an instant as the tooltip of its time: in a time zone and, on a second line, in UTC. */
export function exactTimes(iso: string, zone: string): string {
  if (isUtcZone(zone)) return exactTime(iso);
  const local = localTime(Date.parse(iso), zone);
  return `${longDay(local)}, ${secondTime(local)} ${zone}\n${exactTime(iso)}`;
}

/** Returns the name of a time zone at a time in unix ms: "CET", or "UTC-3" for one without a name. */
export function zoneAt(at: number, zone: string): string {
  const { name, offset } = zoneNameAt(at, zone);
  return name ?? offset;
}

/** "21 November 2026" for the text of a time or a day that begins with the date, such as ISO 8601. */
export function longDay(text: string): string {
  return `${Number(text.slice(8, 10))} ${monthOf(text)} ${text.slice(0, 4)}`;
}

/** "21 Nov 2026" for such a text. */
export function shortDay(text: string): string {
  return `${Number(text.slice(8, 10))} ${monthOf(text).slice(0, 3)} ${text.slice(0, 4)}`;
}

/** "21 Nov 2026" for an instant in unix ms. */
export function dayAt(at: number, zone: string): string {
  return shortDay(localTime(at, zone));
}

/** "14:32" for an instant in unix ms. */
export function clockAt(at: number, zone: string): string {
  return localTime(at, zone).slice(11, 16);
}

/** Returns true if two instants in unix ms are on the same day. */
function isSameDay(at: number, other: number, zone: string): boolean {
  return localTime(at, zone).slice(0, 10) === localTime(other, zone).slice(0, 10);
}

/** "14:32" for an instant of today, "21 Nov, 14:32" for one of this year, else "21 Nov 2025". */
function clockTime(iso: string, now: number, zone: string): string {
  const local = localTime(Date.parse(iso), zone);
  const today = localTime(now, zone);
  const time = local.slice(11, 16);
  if (local.slice(0, 10) === today.slice(0, 10)) return time;
  const day = shortDay(local);
  return local.slice(0, 4) === today.slice(0, 4) ? `${day.slice(0, -5)}, ${time}` : day;
}

/** "14:32:05" for the text of a time, such as ISO 8601. */
export function secondTime(text: string): string {
  return text.slice(11, 19);
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

export interface TimeSpanProps {
  /** ISO 8601 in UTC. */
  from: string;
  until: string;
  timeZone: string;
}

/** A span between two times. On a narrow screen it takes several lines. */
export function TimeSpan({ from, until, timeZone }: TimeSpanProps) {
  return (
    <span class="span">
      <Time at={from}>{zoneSpan(Date.parse(from), Date.parse(until), timeZone)}</Time>
    </span>
  );
}

/** Formatters by time zone. To make one takes many times as long as to use it. */
const zoneFormats = lazy(() => new LRUCache<string, Intl.DateTimeFormat>({ max: 50 }));

function zoneFormat(timeZone: string): Intl.DateTimeFormat {
  let format = zoneFormats().get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", { ...ZONED, timeZone });
    zoneFormats().set(timeZone, format);
  }
  return format;
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
    <Time at={at} tone={tone}>
      {relativeTime(Date.parse(at), now)}
    </Time>
  );
}

interface TimeProps {
  /** ISO 8601 in UTC. */
  at: string;
  tone?: Tone | undefined;
  children: ComponentChildren;
}

/** A time in words of its own, with the exact time as tooltip. */
export function Time({ at, tone, children }: TimeProps) {
  const title = exactTimes(at, useZone());
  return (
    <time class={tone ? `t-${tone} strong` : undefined} dateTime={at} title={title}>
      {children}
    </time>
  );
}

type AtNow = Omit<RelativeTimeProps, "tone">;

/** Day and time such as "Today, 13:54" or "21 Nov, 18:50", and the day of another year. */
export function DayTime({ at, now }: AtNow) {
  const zone = useZone();
  return (
    <Time at={at}>
      {isSameDay(Date.parse(at), now, zone) ? "Today, " : ""}
      {clockTime(at, now, zone)}
    </Time>
  );
}

/** Time such as "14:23", with the day unless it is today. With `hasZone`, "14:23 CET". */
export function ClockTime({ at, now, hasZone = false }: AtNow & { hasZone?: boolean }) {
  const zone = useZone();
  return (
    <>
      <Time at={at}>{clockTime(at, now, zone)}</Time>
      {hasZone ? ` ${zoneAt(Date.parse(at), zone)}` : ""}
    </>
  );
}

/** Time such as "14:23:05", for waits of some minutes at most. */
export function SecondTime({ at }: { at: string }) {
  return <Time at={at}>{secondTime(localTime(Date.parse(at), useZone()))}</Time>;
}

/** Time such as "14:23, 9 min ago", or "21 Nov, 18:50" for another day. */
export function EventTime({ at, now }: AtNow) {
  const zone = useZone();
  const ms = Date.parse(at);
  return (
    <Time at={at}>
      {clockTime(at, now, zone)}
      {isSameDay(ms, now, zone) ? `, ${relativeTime(ms, now)}` : ""}
    </Time>
  );
}

/** Day such as "21 Nov 2026". */
export function Day({ at }: { at: string }) {
  return <Time at={at}>{dayAt(Date.parse(at), useZone())}</Time>;
}

/** Day and minute such as "21 Nov 2026, 15:32 CET" of a time in unix ms. */
export function DateTime({ at }: { at: number }) {
  return <Time at={toIso(at)}>{dateTimeAt(at, useZone())}</Time>;
}

/** "21 Nov 2026, 15:32 CET" for a time in unix ms. */
export function dateTimeAt(at: number, zone: string): string {
  return `${dayAt(at, zone)}, ${clockAt(at, zone)} ${zoneAt(at, zone)}`;
}

/** Returns a span between times in unix ms: "21 Nov 2026, 14:00–14:30 UTC", with the second day if it is another. */
export function spanAt({ from, to }: { from: number; to: number }, zone: string): string {
  const [first, last] = [dayAt(from, zone), dayAt(to, zone)];
  const end = `${clockAt(to, zone)} ${zoneAt(to, zone)}`;
  const begin = `${first}, ${clockAt(from, zone)}`;
  return first === last ? `${begin}–${end}` : `${begin} – ${last}, ${end}`;
}

/** Returns whole days of UTC as text: "21 Nov 2026", "21 Nov 2026 – 25 Nov 2026", with "(UTC)" in other zones. */
export function utcDays({ from, to }: { from: number; to: number }, zone: string): string {
  const [first, last] = [shortDay(toIso(from)), shortDay(toIso(to - 1))];
  const days = first === last ? first : `${first} – ${last}`;
  return isUtcZone(zone) ? days : `${days} (UTC)`;
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
