import type { Clock } from "../kernel/clock";
import { outsideAddressOf } from "./policy";

/** Minimum time between two looks at the address of a request while nothing is in doubt, in ms. */
const LOOK_EVERY_MS = 50;

/**
 * Answers from outside: from global unicast addresses, by any connection of this process, and requests from there.
 * Each shows that this server has its network.
 */
export class OutsideAnswers {
  /** Called with each answer. */
  onAnswer: (() => void) | undefined;
  /** True while it matters at once if this server has its network, so that the address of every request is read. */
  isInDoubt = false;
  readonly #clock: Clock;
  #lastAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Time of the last answer, on the monotonic clock; -Infinity before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Notes that an address answered, if it is outside: accepted or refused a connection, or sent anything. */
  answered(address: string): void {
    if (!outsideAddressOf(address)) return;
    this.#lastAt = this.#clock.monotonic();
    this.onAnswer?.();
  }

  /** Returns true if the client address of a request at `now` (unix ms) is to be noted. Reading it costs a system call. */
  isLookDue(now: number): boolean {
    const isDue = this.isInDoubt || Math.abs(now - this.#lookedAt) >= LOOK_EVERY_MS;
    if (isDue) this.#lookedAt = now;
    return isDue;
  }
}
