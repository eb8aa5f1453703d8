import type { Clock } from "../../base/clock";

/**
 * Returns a clock of wall time (unix ms) that never goes back: if the clock is set back, it
 * continues from its last time, so that delays keep their length. If the clock is set forward, it
 * follows.
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

/** Delay after a fault: doubles up to the longest; faults within one delay share it. */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #waitMs = 0;
  #raisedAt = Number.NEGATIVE_INFINITY;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  /** Returns the delay after a fault that happened now. */
  nextWaitMs(now: number): number {
    if (now - this.#raisedAt >= this.#waitMs) {
      this.#raisedAt = now;
      this.#waitMs = Math.min(Math.max(this.#firstMs, 2 * this.#waitMs), this.#longestMs);
    }
    return this.#waitMs;
  }

  /** Resets the delay to the shortest one, after something was sent. */
  reset(): void {
    this.#waitMs = 0;
  }
}
