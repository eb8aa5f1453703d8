import type { Clock, Timer } from "../../../kernel/clock";
import { MINUTE_MS, SECOND_MS } from "../../../kernel/time";

/** Interval of looking at the clock, which takes 0.02 % of a processor. */
const LOOK_MS = 250;
/** Delay of a due timer beyond which this process stood still. */
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
  #timer: Timer | undefined;
  /** Last regular look. The monotonic clock of some systems stops while the machine is suspended. */
  #looked = { monotonic: 0, wall: 0 };
  /** Last time at which this process is known to have run. This and all others are on the monotonic clock. */
  #ranAt = Number.NEGATIVE_INFINITY;
  /** End of the last stall, and of the first one of its series. */
  #endedAt = Number.NEGATIVE_INFINITY;
  #seriesFrom = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins to look at the clock, and calls `onLook` each time. Before, no stall is found. */
  watch(onLook: () => void): void {
    this.#note();
    this.#timer = this.#clock.every(LOOK_MS, () => {
      this.look();
      this.#note();
      onLook();
    });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Returns true if a stall ended after a time: what began by then and ends now fell into it. */
  hasEndedSince(startedAt: number): boolean {
    this.look();
    return this.#endedAt > startedAt;
  }

  /**
   * Returns the time from which a deadline can be judged: 5 seconds after the last stall, but at most a minute after
   * the deadline.
   */
  judgedFrom(deadline: number): number {
    this.look();
    return Math.max(deadline, Math.min(this.#endedAt + RECOVERY_MS, deadline + SERIES_MAX_MS));
  }

  /** True if stalls have followed each other for a minute. A single long one is none. */
  get isTooBusy(): boolean {
    this.look();
    const isOver = this.#clock.monotonic() - this.#endedAt > RECOVERY_MS;
    return !isOver && this.#endedAt - this.#seriesFrom >= SERIES_MAX_MS;
  }

  /** Looks at the clock. Call it before something begins that a stall can spoil. */
  look(): void {
    if (!this.#timer) return;
    const now = this.#clock.monotonic();
    const { monotonic, wall } = this.#looked;
    // A wall clock that is set forward looks like a suspended machine.
    const passedMs = Math.max(now - monotonic, this.#clock.now() - wall);
    if (passedMs > LOOK_MS + LAG_MAX_MS) {
      if (this.#ranAt - this.#endedAt > RECOVERY_MS) this.#seriesFrom = now;
      this.#endedAt = now;
      this.#note();
    }
    this.#ranAt = now;
  }

  #note(): void {
    this.#ranAt = this.#clock.monotonic();
    this.#looked = { monotonic: this.#ranAt, wall: this.#clock.now() };
  }
}
