import type { Clock } from "../../../kernel/clock";

/**
 * Wall-clock time (unix ms) that never goes back and never stands still: where the clock is set back,
 * it goes on from where it was, so that a wait lasts as long as it was meant to. Where the clock is set
 * forward, it follows.
 */
export function monotonicWallClock(clock: Clock): () => number {
  let time = clock.now();
  let readAt = clock.monotonic();
  return () => {
    const monotonic = clock.monotonic();
    time = Math.max(clock.now(), time + (monotonic - readAt));
    readAt = monotonic;
    return Math.floor(time);
  };
}
