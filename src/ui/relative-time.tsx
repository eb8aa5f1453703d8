import type { Tone } from "../domain/tone";
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

/** Day such as "21 Nov 2026", with the exact time as tooltip. `at` is ISO 8601 in UTC. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {shortDay(at)}
    </time>
  );
}
