import { exactTime, relativeTime, shortDay } from "./times";

interface RelativeTimeProps {
  /** ISO 8601 in UTC. */
  at: string;
  /** Unix ms. */
  now: number;
  /** `warning` for what somebody should look at: stale, or about to end. */
  tone?: "warning" | "danger";
}

/** A moment relative to now, its exact time on hover and for programs. */
export function RelativeTime({ at, now, tone }: RelativeTimeProps) {
  return (
    <time class={tone ? `tone-${tone} strong` : undefined} dateTime={at} title={exactTime(at)}>
      {relativeTime(Date.parse(at), now)}
    </time>
  );
}

/** A day, for what is far enough away: "21 Nov 2026". `at` is ISO 8601 in UTC. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {shortDay(at)}
    </time>
  );
}
