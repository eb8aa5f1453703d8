import type { Clock, Timer } from "../../../base/clock";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";

/** Intervals of looking at the clock: while checks run, and otherwise, since each look wakes the machine. */
const LOOK_MS = { measuring: 100, idle: 500 };
/** Delay of a due look beyond which this process stood still. A stall that ends sooner after it goes unnoticed. */
const LAG_MAX_MS = 500;
/**
 * Time in which requests that waited during a stall are read. Stalls with less time between them are a series.
 */
const RECOVERY_MS = 5 * SECOND_MS;
/** Length of a series of stalls beyond which the machine is too busy. Deadlines wait no longer for its end. */
const SERIES_MAX_MS = MINUTE_MS;

/**
 * Detects stalls: times in which this process did not run, since it or the machine was suspended, another program
 * had the processor, or one turn of the event loop was long. After a stall, timers and sockets continue in any order,
 * so each question looks at the clock first.
 */
export class Stalls {
  readonly #clock: Clock;
  #isMeasuring = () => false;
  #onLook = () => {};
  /** Timer of the next look; undefined while nothing is watched. */
  #timer: Timer | undefined;
  /** Time of that look by both clocks. The monotonic one of some systems stops while the machine is suspended. */
  #due = { monotonic: 0, wall: 0 };
  /** Last time at which this process is known to have run. This and all others are on the monotonic clock. */
  #ranAt = Number.NEGATIVE_INFINITY;
  /** End of the last stall, and of the first one of its series. */
  #endedAt = Number.NEGATIVE_INFINITY;
  #seriesFrom = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Begins to look at the clock, more often while `isMeasuring` returns true, and calls `onLook` each time. Before, no
   * stall is found.
   */
  watch(isMeasuring: () => boolean, onLook: () => void): void {
    this.#isMeasuring = isMeasuring;
    this.#onLook = onLook;
    this.#ranAt = this.#clock.monotonic();
    this.#scheduleLook();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Called when something begins that a stall can spoil. */
  begin(): void {
    this.#look();
    const isSoon = this.#due.monotonic - this.#clock.monotonic() <= LOOK_MS.measuring;
    if (this.#timer && !isSoon) this.#scheduleLook();
  }

  /** Returns true if a stall ended after a time: what began by then and ends now fell into it. */
  hasEndedSince(startedAt: number): boolean {
    this.#look();
    return this.#endedAt > startedAt;
  }

  /**
   * Returns the time from which a deadline can be judged: 5 seconds after the last stall, but at most a minute after
   * the deadline.
   */
  settledFrom(deadline: number): number {
    this.#look();
    return Math.max(deadline, Math.min(this.#endedAt + RECOVERY_MS, deadline + SERIES_MAX_MS));
  }

  /** True if stalls have followed each other for a minute. A single long one is none. */
  get isTooBusy(): boolean {
    this.#look();
    const isOver = this.#clock.monotonic() - this.#endedAt > RECOVERY_MS;
    return !isOver && this.#endedAt - this.#seriesFrom >= SERIES_MAX_MS;
  }

  #look(): void {
    if (!this.#timer) return;
    const now = this.#clock.monotonic();
    // A wall clock that is set forward looks like a suspended machine.
    const lagMs = Math.max(now - this.#due.monotonic, this.#clock.now() - this.#due.wall);
    if (lagMs > LAG_MAX_MS) {
      if (this.#ranAt - this.#endedAt > RECOVERY_MS) this.#seriesFrom = now;
      this.#endedAt = now;
      this.#scheduleLook();
    }
    this.#ranAt = now;
  }

  #scheduleLook(): void {
    const delayMs = this.#isMeasuring() ? LOOK_MS.measuring : LOOK_MS.idle;
    this.#timer?.cancel();
    this.#due = {
      monotonic: this.#clock.monotonic() + delayMs,
      wall: this.#clock.now() + delayMs,
    };
    this.#timer = this.#clock.after(delayMs, () => {
      this.#look();
      this.#scheduleLook();
      this.#onLook();
    });
  }
}

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

  /** End of the last time in which this server was offline, in unix ms; 0 if that was no longer than a restart takes. */
  get heardSince(): number {
    const { from, until } = this.#offline;
    return until - from > SERVER_OFFLINE_MS ? until : 0;
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
