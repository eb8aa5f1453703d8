import type { FieldErrors } from "../../errors";
import { isInFuture, toMs } from "../timeline";

/** Planned start and end, in unix ms. */
export interface Times {
  scheduledFor: number;
  scheduledUntil: number;
}

/**
 * Returns the times that a body names, and the known ones instead of omitted ones. Adds an error if the
 * end is not after the start.
 */
export function readTimes(
  input: { scheduled_for?: string; scheduled_until?: string },
  known: Times,
  errors: FieldErrors,
): Times {
  const { scheduled_for: from, scheduled_until: until } = input;
  const scheduledFor = from === undefined ? known.scheduledFor : toMs(from);
  const scheduledUntil = until === undefined ? known.scheduledUntil : toMs(until);
  if (scheduledUntil <= scheduledFor) {
    const field = until === undefined ? "scheduled_for" : "scheduled_until";
    errors.add([field], "the end must lie after the beginning");
  }
  return { scheduledFor, scheduledUntil };
}

/**
 * Returns the time at which an update takes effect: its `display_at`, or now. Updates are only
 * appended, so it is never before the previous update (`lastAt`). A time slightly in the future, from
 * a clock that is ahead, counts as now. Unix ms.
 */
export function readDisplayTime(
  text: string | undefined,
  lastAt: number,
  now: number,
  errors: FieldErrors,
): number {
  const present = Math.max(now, lastAt);
  const at = text === undefined ? present : toMs(text);
  if (isInFuture(at, present)) errors.add(["display_at"], "lies in the future");
  if (at < lastAt) errors.add(["display_at"], "lies before the last update");
  return Math.min(at, present);
}
