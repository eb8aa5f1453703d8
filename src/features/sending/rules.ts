/* Waits before retries of deliveries and mails. Pure: chance is an argument. */

/**
 * Random share by which a wait before a retry is shorter or longer, so that failures of one moment are not repeated
 * together.
 */
const SPREAD = 0.2;

/** Returns a wait in ms, shorter or longer by chance. `chance` is from 0 to 1. */
export function spreadWait(waitMs: number, chance: number): number {
  return Math.round(waitMs * (1 - SPREAD + 2 * SPREAD * chance));
}

/** Returns the longest that `spreadWait` returns. */
export function longestSpread(waitMs: number): number {
  return waitMs * (1 + SPREAD);
}
