import { exactTime, relativeTime } from "./times";

export interface MomentProps {
  /** ISO 8601 in UTC. */
  at: string;
  /** Unix ms. */
  now: number;
  /** `warning` for what somebody should look at: stale, or about to end. */
  tone?: "warning" | "danger";
}

/** A moment relative to now, its exact time on hover and for programs. */
export function Moment({ at, now, tone }: MomentProps) {
  return (
    <time class={tone ? `tone-${tone} strong` : undefined} dateTime={at} title={exactTime(at)}>
      {relativeTime(Date.parse(at), now)}
    </time>
  );
}
