import type { BucketMap } from "../../features/limits/bucket-map";
import type { Decision } from "../../features/limits/bucket";
import type { Clock, Timer } from "../../base/clock";
import { SECOND_MS } from "../../base/time";
import { TAKE_TOKENS } from "./bucket-script";
import { Caller, type SharedBucket, type Slice, SLICE_MS } from "./caller";
import { BACKGROUND_MS, CALL_MS, type Valkey } from "./client";

/** Interval in which callers that are idle are forgotten. */
const FORGET_MS = 5 * SECOND_MS;

interface SharedBucketsOptions {
  valkey: Pick<Valkey, "isAvailable" | "run" | "changed">;
  clock: Clock;
  /** Beginning of the keys in Valkey. */
  prefix: string;
  /** Callers at the same time; those in addition have buckets of this node. */
  capacity: number;
  /** Buckets of this node, for the time without Valkey. */
  local: () => Pick<BucketMap, "take" | "remaining" | "raise">;
  /** Number of nodes that share the buckets. */
  nodes: () => number;
}

/**
 * Buckets that nodes share: each takes several tokens at a time and spends them within a second, and within the minute
 * of the bucket. Requests of a caller for which a node has no token wait together for one call, those that come
 * meanwhile for the next. If Valkey does not answer in time, decisions are this node's own. They begin with what it
 * knows of the shared bucket, its minute included.
 */
export class SharedBuckets {
  readonly #options: SharedBucketsOptions;
  readonly #callers = new Map<string, Caller>();
  /** Slices with tokens, in the order in which they end. */
  readonly #slices = new Set<Slice>();
  readonly #forgetting: Timer;
  #ending: Timer | undefined;
  #localDecisions = 0;
  #rejected = 0;

  constructor(options: SharedBucketsOptions) {
    this.#options = options;
    this.#forgetting = options.clock.every(FORGET_MS, () => this.#forgetIdle());
    // Tokens of a server that is started again count no longer.
    options.valkey.changed.on((isAvailable) => {
      if (isAvailable) return;
      const now = options.clock.monotonic();
      for (const caller of this.#callers.values()) this.#noteLocally(caller, now);
      this.#forgetAll();
    });
  }

  /** Takes one token of a caller. A promise usually resolves within 20 ms if Valkey is silent. */
  take(id: string, limit: number): Decision | Promise<Decision> {
    if (!this.#options.valkey.isAvailable()) return this.#takeLocally(id, limit);
    const caller = this.#callers.get(id) ?? this.#add(id, limit);
    if (!caller) return this.#takeLocally(id, limit);
    const now = this.#options.clock.monotonic();
    const isBusy = now - caller.usedAt < SLICE_MS;
    caller.setLimit(limit);
    caller.usedAt = now;
    this.#endOf(caller, now);
    if (this.#spend(caller, now)) {
      if (isBusy && caller.needsMore(now)) void this.#ask(caller);
      return caller.decide(true, now);
    }
    if (caller.isRefused(now)) return this.#refuse(caller, now);
    return new Promise((resolve) => {
      caller.waiters.push(resolve);
      if (!caller.isAsking) void this.#ask(caller);
    });
  }

  /** Returns the whole tokens that a caller has left, as far as this node knows. */
  remaining(id: string, limit: number): number {
    const caller = this.#callers.get(id);
    return caller
      ? caller.remaining(this.#options.clock.monotonic())
      : this.#options.local().remaining(id, limit);
  }

  /** Number of decisions of this node alone since the start. */
  get localDecisions(): number {
    return this.#localDecisions;
  }

  /** Number of requests refused since the start, without those of this node's own buckets. */
  get rejected(): number {
    return this.#rejected;
  }

  get size(): number {
    return this.#callers.size;
  }

  /** Gives back the tokens that are left. */
  async stop(): Promise<void> {
    this.#forgetting.cancel();
    const callers = [...this.#callers.values()];
    const now = this.#options.clock.monotonic();
    for (const slice of this.#slices) slice.caller.end(slice, now);
    this.#forgetAll();
    await Promise.all(callers.map((caller) => this.#giveBack(caller)));
  }

  #takeLocally(id: string, limit: number): Decision {
    this.#localDecisions += 1;
    return this.#options.local().take(id, limit);
  }

  #add(id: string, limit: number): Caller | undefined {
    if (this.#callers.size >= this.#options.capacity) return undefined;
    const caller = new Caller(id, limit);
    this.#callers.set(id, caller);
    return caller;
  }

  /** Notes in a bucket of this node what is known of a shared one. */
  #noteLocally(caller: Caller, now: number): void {
    this.#options.local().raise(caller.id, caller.taken(now), caller.refillInMs(now));
  }

  #spend(caller: Caller, now: number): boolean {
    const slice = caller.spend(now);
    if (slice?.tokens === 0) this.#slices.delete(slice);
    return slice !== undefined;
  }

  /** Takes tokens from the shared bucket until no request waits for one. */
  async #ask(caller: Caller): Promise<void> {
    const { clock, valkey } = this.#options;
    caller.isAsking = true;
    try {
      do {
        const needed = caller.waiters.length;
        const { limit } = caller;
        const { granted, from, learn } = await this.#call(caller, caller.wanted, needed, CALL_MS);
        // A bucket of the time before a failure.
        if (!valkey.isAvailable()) break;
        const now = clock.monotonic();
        learn(now);
        this.#endOf(caller, now);
        const slice = granted > 0 ? caller.add(granted, from, now) : undefined;
        if (slice) this.#keep(slice);
        const hasEnded = granted > 0 && !slice;
        // Tokens that ended, or a limit that was raised, while the call was under way need another call.
        const isOutdated = hasEnded || caller.unused > 0 || caller.limit > limit;
        const isEmpty = granted < Math.max(1, needed) && !isOutdated;
        if (isEmpty) caller.refuse(now);
        this.#answer(caller, isEmpty, now);
      } while (caller.waiters.length > 0);
      void this.#giveBack(caller);
    } catch {
      // Valkey does not answer.
    } finally {
      caller.isAsking = false;
      this.#answerLocally(caller);
    }
  }

  /**
   * Takes `wanted` tokens, of which waiting requests need some, and gives back the unused ones. Returns the tokens
   * granted, the monotonic time at which they were asked for, and a function that notes the state of the bucket.
   */
  async #call(caller: Caller, wanted: number, needed: number, limitMs: number) {
    const { clock, prefix, nodes, valkey } = this.#options;
    const { limit, unused, minute } = caller;
    const from = clock.monotonic();
    caller.unused = 0;
    const args = [limit, wanted, unused, minute, nodes(), needed].map(String);
    const answer = await valkey.run(TAKE_TOKENS, [prefix + caller.id], args, limitMs);
    const [granted, ...bucket] = answer as [granted: number, ...SharedBucket];
    return { granted, from, learn: (now: number) => caller.learn(bucket, limit, from, now) };
  }

  #keep(slice: Slice): void {
    this.#slices.add(slice);
    this.#endLater();
  }

  /** Answers the requests that wait, as far as there are tokens; all if the bucket is empty. */
  #answer(caller: Caller, isEmpty: boolean, now: number): void {
    const { waiters } = caller;
    while (waiters.length > 0 && this.#spend(caller, now)) {
      waiters.shift()?.(caller.decide(true, now));
    }
    if (!isEmpty) return;
    for (const resolve of waiters.splice(0)) resolve(this.#refuse(caller, now));
  }

  #answerLocally(caller: Caller): void {
    for (const resolve of caller.waiters.splice(0)) {
      resolve(this.#takeLocally(caller.id, caller.limit));
    }
  }

  #refuse(caller: Caller, now: number): Decision {
    this.#rejected += 1;
    return caller.decide(false, now);
  }

  /** Ends the slices of a caller whose time is over. */
  #endOf(caller: Caller, now: number): void {
    for (let [slice] = caller.slices; slice && now >= slice.until; [slice] = caller.slices) {
      caller.end(slice, now);
      this.#slices.delete(slice);
    }
  }

  /** Gives back what is left of slices when they end. */
  #endLater(): void {
    const [first] = this.#slices;
    if (this.#ending || !first) return;
    const { clock } = this.#options;
    this.#ending = clock.after(Math.max(1, first.until - clock.monotonic()), () => {
      this.#ending = undefined;
      const now = clock.monotonic();
      const ended = new Set<Caller>();
      for (const { caller, until } of this.#slices) {
        if (now < until) break;
        this.#endOf(caller, now);
        ended.add(caller);
      }
      for (const caller of ended) if (!caller.isAsking) void this.#giveBack(caller);
      this.#endLater();
    });
  }

  async #giveBack(caller: Caller): Promise<void> {
    if (caller.unused === 0) return;
    try {
      const { learn } = await this.#call(caller, 0, 0, BACKGROUND_MS);
      learn(this.#options.clock.monotonic());
    } catch {
      // Valkey does not answer.
    }
  }

  /** Forgets callers without requests. What is known of their minutes takes less memory in a bucket of this node. */
  #forgetIdle(): void {
    const now = this.#options.clock.monotonic();
    for (const [id, caller] of this.#callers) {
      const isIdle = caller.held === 0 && !caller.isAsking && now - caller.usedAt >= SLICE_MS;
      if (!isIdle) continue;
      this.#noteLocally(caller, now);
      this.#callers.delete(id);
    }
  }

  #forgetAll(): void {
    this.#ending?.cancel();
    this.#ending = undefined;
    this.#slices.clear();
    const callers = [...this.#callers.values()];
    this.#callers.clear();
    for (const caller of callers) this.#answerLocally(caller);
  }
}
