import { LRUCache } from "lru-cache";
import type { Clock } from "../kernel/clock";
import { outsideAddressOf } from "./policy";

/** Minimum time between two looks at the address of a request while nothing is in doubt, in ms. */
const LOOK_EVERY_MS = 50;

/** Addresses of which it is known if they are outside: parsing one takes as long as a small request. */
const KNOWN_ADDRESSES = 1_000;

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
  readonly #known = new LRUCache<string, boolean>({ max: KNOWN_ADDRESSES });
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
    let isOutside = this.#known.get(address);
    if (isOutside === undefined) {
      isOutside = outsideAddressOf(address) !== undefined;
      this.#known.set(address, isOutside);
    }
    if (!isOutside) return;
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
