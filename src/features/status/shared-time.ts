import { MINUTE_MS } from "../../base/time";

/** Time between two moments at which all nodes of a fleet make their documents again. A part of a day. */
export const SHARED_STEP_MS = 5 * MINUTE_MS;

/** Returns the start of the step of a time, in unix ms. */
export function stepStart(now: number): number {
  return now - (now % SHARED_STEP_MS);
}

/**
 * Returns the time to which the figures of something that last changed at `changedAt` apply on all nodes of a fleet, in
 * unix ms: they make it at different times within the step of `now`, and with equal bytes.
 */
export function sharedTime(now: number, changedAt: number): number {
  const start = stepStart(now);
  // A node whose clock is a little behind sees changes of its future. A wrong clock has no more effect than that.
  return Math.min(Math.max(start, changedAt), start + SHARED_STEP_MS - 1);
}
