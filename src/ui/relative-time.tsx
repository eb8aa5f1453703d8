import type { Tone } from "../domain/tone";
import { toIso } from "../kernel/time";
import { exactTime, relativeTime, shortDay } from "./times";

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
  const today = toIso(now);
  const day = shortDay(at);
  const year = ` ${today.slice(0, 4)}`;
  const time = at.slice(11, 16);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {at.slice(0, 10) === today.slice(0, 10)
        ? `Today, ${time}`
        : day.endsWith(year)
          ? `${day.slice(0, -year.length)}, ${time}`
          : day}
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
