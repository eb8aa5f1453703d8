import { SECOND_MS } from "../../../kernel/time";
import type { Clock } from "../../../kernel/clock";

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

const FIRST_WAIT_MS = SECOND_MS;
const LONGEST_WAIT_MS = 30 * SECOND_MS;

/** Delay after a local fault: doubles up to 30 s; deliveries that fail within one delay share it. */
export class Backoff {
  #waitMs = FIRST_WAIT_MS;
  #raisedAt = Number.NEGATIVE_INFINITY;

  /** Returns the delay of a delivery that failed now. */
  nextWaitMs(now: number): number {
    if (now - this.#raisedAt >= this.#waitMs) {
      this.#raisedAt = now;
      this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
    }
    return this.#waitMs;
  }

  /** Resets the delay to the shortest one, after something was sent. */
  reset(): void {
    this.#waitMs = FIRST_WAIT_MS;
  }
}
