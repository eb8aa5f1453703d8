import { MINUTE_MS, SECOND_MS } from "../../base/time";

/** Decision about one request, with everything that its rate limit headers contain. */
export interface Decision {
  isAllowed: boolean;
  /** Tokens of a full bucket, which are those of a minute. */
  limit: number;
  /** Tokens left. */
  remaining: number;
  /** Whole seconds until the bucket is filled again: 1 to 60. A caller that waits so long has the whole limit. */
  refillInSeconds: number;
}

/** Tolerance for rounding of times, in ms, so that a caller who waited exactly as long as required is accepted. */
const ROUNDING_MS = 1e-6;

/** Returns the whole seconds until a refill that is `ms` away: 1 to 60. */
export function secondsToRefill(ms: number): number {
  const seconds = Math.ceil((ms - ROUNDING_MS) / SECOND_MS);
  return Math.min(MINUTE_MS / SECOND_MS, Math.max(1, seconds));
}

/**
 * Token buckets by number, at first full. A bucket is filled again, all at once, a minute after its first token was
 * taken. It stores the tokens taken instead of those left, so that a change of the limit applies at once. Times are
 * monotonic, in ms.
 */
export class Buckets {
  readonly #taken: Uint32Array;
  /** Ends of the minutes; 0 before the first one. */
  readonly #refillAt: Float64Array;

  /** Creates `count` buckets, the first of which are those of `former`. */
  constructor(count: number, former?: Buckets) {
    this.#taken = new Uint32Array(count);
    this.#refillAt = new Float64Array(count);
    if (!former) return;
    this.#taken.set(former.#taken);
    this.#refillAt.set(former.#refillAt);
  }

  /** Returns the ms until a bucket is filled again; 0 for one without a minute, which is full. */
  refillInMs(index: number, now: number): number {
    const ms = (this.#refillAt[index] as number) - now;
    return ms > ROUNDING_MS ? ms : 0;
  }

  /** Returns the tokens left, without taking one. */
  left(index: number, limit: number, now: number): number {
    const taken = this.refillInMs(index, now) === 0 ? 0 : (this.#taken[index] as number);
    return Math.max(0, limit - taken);
  }

  /** Takes one token if there is one. The first begins the bucket's minute. */
  take(index: number, limit: number, now: number): Decision {
    let refillInMs = this.refillInMs(index, now);
    if (refillInMs === 0) {
      refillInMs = MINUTE_MS;
      this.#taken[index] = 0;
      this.#refillAt[index] = now + MINUTE_MS;
    }
    const taken = this.#taken[index] as number;
    const isAllowed = taken < limit;
    if (isAllowed) this.#taken[index] = taken + 1;
    return {
      isAllowed,
      limit,
      remaining: Math.max(0, limit - taken - 1),
      refillInSeconds: secondsToRefill(refillInMs),
    };
  }

  /** Notes that at least `taken` tokens were taken, in a minute that ends in `refillInMs` or later. */
  raise(index: number, taken: number, refillInMs: number, now: number): void {
    const known = this.refillInMs(index, now);
    this.#taken[index] = Math.max(taken, known === 0 ? 0 : (this.#taken[index] as number));
    this.#refillAt[index] = now + Math.max(refillInMs, known);
  }
}
