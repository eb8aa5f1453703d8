import type { Clock } from "../../../kernel/clock";

/** A server that was not seen for longer was away: what happened meanwhile is not known. */
export const SERVER_OFFLINE_MS = 45_000;
/** Message of checks that were missed. */
export const SERVER_OFFLINE = "This server was away.";

/**
 * Detects times in which this server did not run, by the wall clock, which goes on while the server
 * is down or the machine sleeps. A clock that is set forward looks the same, and the skipped time
 * is without data as well.
 */
export class Liveness {
  readonly #clock: Clock;
  /** Wall-clock time of the last look. */
  #lookedAt: number;
  /** The latest time that this server was ever seen at; a clock that is set back does not bring it back. */
  #seenAt: number;

  /** `storedAt` is when the server was last seen before it was started, in unix ms. */
  constructor(clock: Clock, storedAt: number | undefined) {
    this.#clock = clock;
    this.#lookedAt = storedAt ?? clock.now();
    this.#seenAt = this.#lookedAt;
  }

  /** Time at which this server was last awake, in unix ms. */
  get seenAt(): number {
    return this.#seenAt;
  }

  /** Looks at the clock. Answers since when nothing is known (unix ms) where the server was away. */
  look(): number | undefined {
    const now = this.#clock.now();
    const passedMs = now - this.#lookedAt;
    const before = this.#seenAt;
    this.#lookedAt = now;
    this.#seenAt = Math.max(before, now);
    // Where the clock was behind, as one without a battery is after a start, it now catches up.
    return passedMs > SERVER_OFFLINE_MS && now - before > SERVER_OFFLINE_MS ? before : undefined;
  }
}
