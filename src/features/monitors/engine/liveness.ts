import type { Clock } from "../../../base/clock";
import { HOUR_MS } from "../../../base/time";

/**
 * Time without a sign of life after which the server counts as offline: the time in between is
 * without data.
 */
export const SERVER_OFFLINE_MS = 45_000;
/**
 * Time by which the clock has to be set back to be taken for wrong before. Jobs that are run by cron are not run
 * again after less.
 */
const SET_BACK_MS = 3 * HOUR_MS;
/** Message of checks that were missed. */
export const SERVER_OFFLINE = "The Allclear server was offline.";

/**
 * Detects times in which this server did not run, by the wall clock, which goes on while the server
 * is down or the machine sleeps. A clock that is set forward looks the same, and the skipped time
 * is without data as well.
 */
export class Liveness {
  readonly #clock: Clock;
  /** Wall-clock time of the last call of `look`. */
  #lookedAt: number;
  /** Latest time at which this server was awake; not moved back with the clock. */
  #seenAt: number;

  #wasSetBack = false;

  /** Last time in which this server was offline, however short, in unix ms. */
  #offline: { from: number; until: number };

  /** `storedAt` is the time at which the server was last awake before its start, in unix ms. */
  constructor(clock: Clock, storedAt: number | undefined) {
    this.#clock = clock;
    this.#lookedAt = storedAt ?? clock.now();
    this.#seenAt = this.#lookedAt;
    this.#offline = { from: this.#lookedAt, until: clock.now() };
  }

  /** Returns true if this server was offline at a time (unix ms), in the last time in which it was. */
  wasOfflineAt(at: number): boolean {
    return at > this.#offline.from && at <= this.#offline.until;
  }

  /** True if the clock was set back by hours between the last two calls of `look`. */
  get wasSetBack(): boolean {
    return this.#wasSetBack;
  }

  /** Time at which this server was last awake, in unix ms. */
  get seenAt(): number {
    return this.#seenAt;
  }

  /**
   * Checks the clock. Returns the start of the time without data (unix ms) if the server was
   * offline.
   */
  look(): number | undefined {
    const now = this.#clock.now();
    const passedMs = now - this.#lookedAt;
    const before = this.#seenAt;
    this.#lookedAt = now;
    this.#wasSetBack = passedMs <= -SET_BACK_MS;
    this.#seenAt = Math.max(before, now);
    // A clock that was behind, such as one without a battery after a start, catches up here.
    if (passedMs <= SERVER_OFFLINE_MS || now - before <= SERVER_OFFLINE_MS) return undefined;
    this.#offline = { from: before, until: now };
    return before;
  }
}
