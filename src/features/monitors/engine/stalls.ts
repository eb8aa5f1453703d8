import type { Clock, Timer } from "../../../base/clock";
import { MINUTE_MS, SECOND_MS } from "../../../base/time";

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
