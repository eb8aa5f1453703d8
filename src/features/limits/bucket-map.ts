import { LRUCache } from "lru-cache";
import type { Clock } from "../../kernel/clock";
import { sha256 } from "../../kernel/hash";
import { type Bucket, type Decision, takeToken, timeToFullMs, tokensLeft } from "./bucket";

const OVERFLOW_BUCKETS = 16;
const PURGE_INTERVAL_MS = 1_000;
const EVICTION_CANDIDATES = 8;
/**
 * Callers for whom a new map has room, until there are more. The cache reserves all of its room at once,
 * which takes 4 to 18 ms and 3.6 MB for 100,000 callers.
 */
const FIRST_ROOM = 1_000;

/**
 * The buckets of one kind of caller, at most `capacity`. The time to live of an entry is the time
 * until it is full, since a full bucket equals a new one.
 *
 * A bucket that is not full is never evicted, since its owner would return with a fresh one. A new
 * caller without room shares one of sixteen overflow buckets with others of its `neighbourhood`,
 * each with the limit `overflowLimit`.
 */
export class BucketMap {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #overflowLimit: number;
  readonly #neighbourhood: (id: string) => string;
  readonly #startedAt: number;
  #buckets: LRUCache<string, Bucket>;
  readonly #overflow: Bucket[];
  // Reused at every renewal, so that a decision allocates no object for it.
  readonly #renewal = { ttl: 1 };
  /**
   * Time of the current decision, which is the cache's clock. Must be set before the cache computes
   * times to live.
   */
  #now: number;
  #lastPurgeAt = Number.NEGATIVE_INFINITY;
  #overflowed = 0;
  #rejected = 0;

  constructor(options: {
    clock: Clock;
    capacity: number;
    overflowLimit: number;
    neighbourhood: (id: string) => string;
  }) {
    this.#clock = options.clock;
    this.#capacity = options.capacity;
    this.#overflowLimit = options.overflowLimit;
    this.#neighbourhood = options.neighbourhood;
    this.#startedAt = options.clock.monotonic();
    this.#now = this.#startedAt;
    this.#buckets = this.#createCache(Math.min(FIRST_ROOM, this.#capacity));
    this.#overflow = Array.from({ length: OVERFLOW_BUCKETS }, () => ({
      spent: 0,
      at: this.#startedAt,
    }));
  }

  /** Takes one token from the caller's bucket, or from an overflow bucket if there is no room. */
  take(id: string, limit: number): Decision {
    const now = this.#clock.monotonic();
    this.#now = now;
    // `peek` does not mark it as used; the renewal below does.
    let bucket = this.#buckets.peek(id);
    if (bucket === undefined) {
      if (!this.#hasRoom(now)) return this.#takeFromOverflow(id, now);
      bucket = { spent: 0, at: now };
    }
    const decision = takeToken(bucket, limit, now);
    this.#renewal.ttl = timeToFullMs(bucket, limit);
    this.#buckets.set(id, bucket, this.#renewal);
    if (!decision.isAllowed) this.#rejected += 1;
    return decision;
  }

  /** Number of requests charged to an overflow bucket since the start. */
  get overflowed(): number {
    return this.#overflowed;
  }

  /** Number of requests refused since the start. */
  get rejected(): number {
    return this.#rejected;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Returns the whole tokens that a caller has left, without taking one. */
  remaining(id: string, limit: number): number {
    const bucket = this.#buckets.peek(id);
    return bucket ? tokensLeft(bucket, limit, this.#clock.monotonic()) : limit;
  }

  /** Lowers the tokens of a caller to those that are known to be left. Without room for a bucket, nothing is noted. */
  lower(id: string, limit: number, remaining: number): void {
    const now = this.#clock.monotonic();
    this.#now = now;
    const bucket = this.#buckets.peek(id);
    const spent = limit - remaining;
    if (spent <= 0 || (!bucket && !this.#hasRoom(now))) return;
    if (bucket && limit - tokensLeft(bucket, limit, now) >= spent) return;
    const lowered = { spent, at: now };
    this.#renewal.ttl = timeToFullMs(lowered, limit);
    this.#buckets.set(id, lowered, this.#renewal);
  }

  #createCache(room: number): LRUCache<string, Bucket> {
    return new LRUCache({
      max: room,
      ttl: 1,
      ttlResolution: 0,
      // Stale buckets are full and harmless. `rkeys` returns them only with this option.
      allowStale: true,
      // The cache reads a start of 0 as "no time to live", so its time begins at 1.
      perf: { now: () => this.#now - this.#startedAt + 1 },
    });
  }

  /** Moves the buckets to a cache with room for `capacity` callers. Returns false if this one has it. */
  #grow(): boolean {
    const former = this.#buckets;
    if (former.max >= this.#capacity) return false;
    this.#buckets = this.#createCache(this.#capacity);
    for (const id of former.rkeys()) {
      const ttl = former.getRemainingTTL(id);
      if (ttl > 0) this.#buckets.set(id, former.peek(id) as Bucket, { ttl });
    }
    this.#lastPurgeAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Makes room for another caller. Returns false if all buckets are in use. */
  #hasRoom(now: number): boolean {
    return this.#buckets.size < this.#buckets.max || this.#makeRoom(now) || this.#grow();
  }

  #makeRoom(now: number): boolean {
    if (now - this.#lastPurgeAt >= PURGE_INTERVAL_MS) {
      this.#lastPurgeAt = now;
      this.#buckets.purgeStale();
      if (this.#buckets.size < this.#buckets.max) return true;
    }
    let looked = 0;
    for (const id of this.#buckets.rkeys()) {
      // Stale, since it is full again: equal to no bucket.
      if (this.#buckets.getRemainingTTL(id) <= 0) return this.#buckets.delete(id);
      if (++looked === EVICTION_CANDIDATES) break;
    }
    return false;
  }

  #takeFromOverflow(id: string, now: number): Decision {
    this.#overflowed += 1;
    const index = (sha256(this.#neighbourhood(id))[0] ?? 0) % OVERFLOW_BUCKETS;
    const bucket = this.#overflow[index] as Bucket;
    const decision = takeToken(bucket, this.#overflowLimit, now);
    if (!decision.isAllowed) this.#rejected += 1;
    return decision;
  }
}
