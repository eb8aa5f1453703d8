import type { Tone } from "../base/status";
import { clockTime, exactTime, isToday, relativeTime, secondTime, shortDay } from "./times";

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
