import { networkInterfaces } from "node:os";
import { LRUCache } from "lru-cache";
import type { Clock } from "../base/clock";
import { MINUTE_MS } from "../base/time";
import { outsideAddressOf } from "./policy";

/** Minimum time between two looks at the address of a request while nothing is in doubt, in ms. */
const LOOK_EVERY_MS = 50;

/** Addresses of which it is known if they are outside: parsing one takes as long as a small request. */
const KNOWN_ADDRESSES = 1_000;

/** Minimum time between two looks at the addresses of this machine. */
const OWN_ADDRESSES_EVERY_MS = MINUTE_MS;

/**
 * Answers from outside: from global unicast addresses, by any connection of this process, and requests from there.
 * Each shows that this server has its network. This machine reaches its own addresses without it.
 */
export class OutsideAnswers {
  /** Called with each answer. */
  onAnswer: (() => void) | undefined;
  /** True while it matters at once if this server has its network, so that the address of every request is read. */
  isInDoubt = false;
  readonly #clock: Clock;
  readonly #interfaces: () => ReturnType<typeof networkInterfaces>;
  readonly #known = new LRUCache<string, boolean>({ max: KNOWN_ADDRESSES });
  /** Addresses that this machine has or had: they stay without a link, but are not listed then. */
  readonly #own = new Set<string>();
  #ownReadAt = Number.NEGATIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, interfaces = networkInterfaces) {
    this.#clock = clock;
    this.#interfaces = interfaces;
  }

  /** Time of the last answer, on the monotonic clock; -Infinity before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Notes that an address answered, if it is outside: accepted or refused a connection, or sent anything. */
  answered(address: string): void {
    let isOutside = this.#known.get(address);
    if (isOutside === undefined) {
      isOutside = outsideAddressOf(address) !== undefined && !this.isOwn(address);
      this.#known.set(address, isOutside);
    }
    if (!isOutside) return;
    this.#lastAt = this.#clock.monotonic();
    this.onAnswer?.();
  }

  /** Returns true for an address of this machine. */
  isOwn(address: string): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#ownReadAt >= OWN_ADDRESSES_EVERY_MS) {
      this.#ownReadAt = now;
      this.#readOwn();
    }
    return this.#own.has(outsideAddressOf(address)?.address ?? address);
  }

  #readOwn(): void {
    try {
      const listed = Object.values(this.#interfaces()).flatMap((each) => each ?? []);
      for (const { address } of listed)
        this.#own.add(outsideAddressOf(address)?.address ?? address);
    } catch {
      // A sandbox may forbid it. Then nothing is known of them.
    }
  }

  /** Returns true if the client address of a request at `now` (unix ms) is to be noted. Reading it costs a system call. */
  isLookDue(now: number): boolean {
    const isDue = this.isInDoubt || Math.abs(now - this.#lookedAt) >= LOOK_EVERY_MS;
    if (isDue) this.#lookedAt = now;
    return isDue;
  }
}
