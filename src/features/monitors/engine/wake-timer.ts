import type { Clock, Timer } from "../../../kernel/clock";

/** One timer for all that is due: set for the earliest moment that is asked for. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: Timer | undefined;
  #at = Number.POSITIVE_INFINITY;
  #isOff = true;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** True before the start and after the end, when nothing wakes. */
  get isOff(): boolean {
    return this.#isOff;
  }

  /** Begins to wake; what was asked for before is forgotten. */
  on(): void {
    this.#isOff = false;
  }

  off(): void {
    this.#isOff = true;
    this.#timer?.cancel();
  }

  /** Wakes at a moment of the monotonic clock, or sooner. */
  at(moment: number): void {
    if (this.#isOff || this.#at <= moment) return;
    this.#timer?.cancel();
    this.#at = moment;
    const delayMs = Math.max(0, Math.ceil(moment - this.#clock.monotonic()));
    this.#timer = this.#clock.after(delayMs, () => {
      this.#at = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }
}
