import type { FieldErrors } from "../../errors";
import { MINUTE_MS, parseInstant } from "../../kernel/time";

/** By how much a caller's clock may be ahead; such a time counts as now. */
const CLOCK_SKEW_MS = MINUTE_MS;

/** The planned beginning and end, in unix ms. */
export interface Times {
  scheduledFor: number;
  scheduledUntil: number;
}

/**
 * The times that a body names (its schema has let them through), and the known ones in the place of
 * those that it leaves out. Complains where the end does not lie after the beginning.
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
 * appended, so it is never before the previous update (`lastAt`) or in the future. Unix ms.
 */
export function readDisplayTime(
  text: string | undefined,
  lastAt: number,
  now: number,
  errors: FieldErrors,
): number {
  const present = Math.max(now, lastAt);
  const at = text === undefined ? present : toMs(text);
  if (at > present + CLOCK_SKEW_MS) errors.add(["display_at"], "lies in the future");
  if (at < lastAt) errors.add(["display_at"], "lies before the last update");
  return Math.min(at, present);
}

function toMs(text: string): number {
  const ms = parseInstant(text);
  if (ms === undefined) throw new Error("the schema lets no other text through");
  return ms;
}
