import type { Clock, Timer } from "../../base/clock";
import type { Config } from "../../base/config/options";
import { SECOND_MS } from "../../base/time";
import {
  type BucketMap,
  type Charge,
  type Decision,
  type Limiter,
  type LocalLimiter,
  secondsToRefill,
} from "../../features/limits/limiter";
import { BACKGROUND_MS, CALL_MS, script, type Valkey } from "./client";

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

/**
 * Gives tokens back to a bucket and takes others from it, by the server's clock. The bucket is a text of the tokens
 * taken and the time in µs at which the first of them was, with which the minute begins; that time is the minute's
 * name. If the clock goes back, a minute ends at most 60 s later.
 *
 * Arguments: limit, wanted tokens, tokens given back, name of their minute, nodes, tokens for requests that wait. Tokens
 * of another minute are not taken back. Answers: tokens granted, tokens left in the bucket (negative if the limit was
 * lowered below those taken), ms until it is filled again, with three decimals, and the name of the minute. A node gets
 * what its waiting requests need, and else at most a quarter of its share of what is left.
 */
export const TAKE_TOKENS = script(`
local limit = tonumber(ARGV[1])
local wanted = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local taken = 0
local begun = now
local stored = redis.call('GET', KEYS[1])
if stored then
  local count, name = string.match(stored, '^(%d+) (%d+)$')
  if now - tonumber(name) < 60000000 then
    taken = tonumber(count)
    if name == ARGV[4] then taken = math.max(0, taken - tonumber(ARGV[3])) end
    if taken > 0 then begun = math.min(tonumber(name), now) end
  end
end
local free = math.max(0, limit - taken)
local granted = 0
if free > 0 then
  local share = math.max(1, math.floor(free / (4 * tonumber(ARGV[5]))))
  granted = math.min(wanted, free, math.max(share, tonumber(ARGV[6])))
end
taken = taken + granted
local refill = (begun + 60000000 - now) / 1000
local minute = string.format('%.0f', begun)
if taken > 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', taken) .. ' ' .. minute, 'PX', math.ceil(refill))
elseif stored then
  redis.call('DEL', KEYS[1])
end
return {granted, limit - taken, string.format('%.3f', refill), minute}
`);

/** Limits that all nodes share, as far as a key or an address can meet them on several. */
export interface SharedLimiter extends Limiter {
  /** Number of decisions that this node took alone since the start. */
  localDecisions(): number;
  /** Gives back what this node holds. */
  stop(): Promise<void>;
}

/** Shares the limits of keys and addresses between the nodes of a Valkey. `local` decides while it does not answer. */
export function shareLimits(
  local: LocalLimiter,
  deps: {
    config: Pick<Config, "publicRateLimit" | "bucketCapacity">;
    clock: Clock;
    valkey: Valkey;
    nodes: () => number;
  },
): SharedLimiter {
  const { config, clock, valkey, nodes } = deps;
  const shared = { valkey, clock, nodes, capacity: config.bucketCapacity };
  const { keys: localKeys, addresses: localAddresses } = local.buckets;
  const keys = new SharedBuckets({ ...shared, prefix: "minute:key:", local: localKeys });
  const addresses = new SharedBuckets({
    ...shared,
    prefix: "minute:public:",
    local: localAddresses,
  });
  return {
    ...local,
    chargeKey: (keyId, rateLimit) => chargeOf("key", keys.take(keyId, rateLimit)),
    chargeAddress: ({ network }) =>
      chargeOf("public", addresses.take(network, config.publicRateLimit)),
    remainingForKey: (keyId, rateLimit) => keys.remaining(keyId, rateLimit),
    stats() {
      const figures = local.stats();
      const sum = (own: SharedBuckets, { buckets, rejected, overflowed }: typeof figures.key) => ({
        buckets: buckets + own.size,
        rejected: rejected + own.rejected,
        overflowed,
      });
      return { ...figures, key: sum(keys, figures.key), public: sum(addresses, figures.public) };
    },
    localDecisions: () => keys.localDecisions + addresses.localDecisions,
    async stop() {
      await Promise.all([keys.stop(), addresses.stop()]);
    },
  };
}

function chargeOf(
  policy: "key" | "public",
  decision: Decision | Promise<Decision>,
): Charge | Promise<Charge> {
  return decision instanceof Promise
    ? decision.then((settled) => ({ policy, decision: settled }))
    : { policy, decision };
}

/** Time for which tokens may be spent after they were asked for. */
const SLICE_MS = SECOND_MS;
/** Longest time for which a refusal is remembered. */
const REFUSAL_MS = 250;
/** Part of the limit that a node first asks for. */
const FIRST_PART = 100;

/** State of a shared bucket: tokens left, ms until it is filled again, and the name of its minute. */
type SharedBucket = [left: number, refillInMs: string, minute: string];

/** Tokens that were taken from the shared bucket together. */
interface Slice {
  caller: Caller;
  tokens: number;
  /** Minute of the shared bucket that they belong to. */
  minute: string;
  /** Monotonic time at which they end: a second after they were asked for, or with their minute. */
  until: number;
}

/** A caller as this node knows it: the tokens that it holds, and what was last known of the shared bucket. */
class Caller {
  /** Slices with tokens, oldest first. */
  readonly slices: Slice[] = [];
  /** Resolvers of the requests that wait for a token. */
  readonly waiters: ((decision: Decision) => void)[] = [];
  isAsking = false;
  usedAt = Number.NEGATIVE_INFINITY;
  /** Tokens of the known minute to give back with the next call. */
  unused = 0;
  /** Name of the minute of the last answer. */
  minute = "";
  #held = 0;
  /** Tokens of the newest slice when it arrived. */
  #size = 0;
  /** Tokens taken from the shared bucket by all nodes, after the last call. */
  #taken = 0;
  /** Tokens to ask for next. */
  #wanted: number;
  /**
   * Monotonic times between which the minute ends. No token is spent after the first, which counts from the sending of
   * a call; a caller waits for the second, which counts from the answer.
   */
  #endsAt = Number.NEGATIVE_INFINITY;
  #refillAt = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which the remembered refusal ends. */
  #refusedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    readonly id: string,
    public limit: number,
  ) {
    this.#wanted = Math.max(1, Math.floor(limit / FIRST_PART));
  }

  get held(): number {
    return this.#held;
  }

  /** Tokens to ask for: as many as are spent in about half a second, and at least one for each waiting request. */
  get wanted(): number {
    return Math.max(this.#wanted, this.waiters.length);
  }

  /** Returns the tokens that other nodes hold, or that were spent, as far as this node knows. */
  taken(now: number): number {
    return this.hasEnded(now) ? 0 : Math.max(0, this.#taken - this.#held - this.unused);
  }

  /** Returns the tokens left, as far as this node knows. */
  remaining(now: number): number {
    return Math.max(0, this.limit - this.taken(now));
  }

  /** Returns the ms until the shared bucket is certainly filled again; 0 or less if it is. */
  refillInMs(now: number): number {
    return this.#refillAt - now;
  }

  /** Returns true if the minute of the last answer may be over. */
  hasEnded(now: number): boolean {
    return now >= this.#endsAt;
  }

  isRefused(now: number): boolean {
    return now < this.#refusedUntil;
  }

  /** Spends a token of the oldest slice. Returns the slice; undefined if none is held, or the limit was lowered. */
  spend(now: number): Slice | undefined {
    const [slice] = this.slices;
    if (!slice || this.remaining(now) === 0) return undefined;
    slice.tokens -= 1;
    this.#held -= 1;
    if (slice.tokens === 0) this.slices.shift();
    return slice;
  }

  /** Applies the current limit. A refusal by another one is no longer remembered. */
  setLimit(limit: number): void {
    if (limit === this.limit) return;
    this.limit = limit;
    this.#refusedUntil = Number.NEGATIVE_INFINITY;
  }

  /** True once half of a slice is spent. The next is then twice as large. */
  needsMore(now: number): boolean {
    if (this.isAsking || this.isRefused(now) || this.#held * 2 > this.#size) return false;
    this.#wanted = Math.min(this.limit, this.#wanted * 2);
    return true;
  }

  /** Notes the answer to a call that was sent at `from` for a limit. */
  learn([left, refillInMs, minute]: SharedBucket, limit: number, from: number, now: number): void {
    // Unused tokens of a former minute have ended with it.
    if (minute !== this.minute) this.unused = 0;
    this.minute = minute;
    this.#taken = limit - left;
    this.#endsAt = from + Number(refillInMs);
    this.#refillAt = now + Number(refillInMs);
  }

  /** Notes that the bucket is empty. */
  refuse(now: number): void {
    this.#refusedUntil = Math.min(this.#endsAt, now + REFUSAL_MS);
  }

  /** Adds tokens that were asked for at `from`. Returns undefined if their time is over, so that they are given back. */
  add(granted: number, from: number, now: number): Slice | undefined {
    const { minute } = this;
    const until = Math.min(from + SLICE_MS, this.#endsAt);
    if (until <= now) {
      if (!this.hasEnded(now)) this.unused += granted;
      return undefined;
    }
    const slice = { caller: this, tokens: granted, minute, until };
    this.slices.push(slice);
    this.#held += granted;
    this.#size = granted;
    return slice;
  }

  /** Takes the rest of the oldest slice away. It is given back, unless its minute is over. */
  end({ tokens, minute }: Slice, now: number): void {
    this.slices.shift();
    this.#held -= tokens;
    if (minute === this.minute && !this.hasEnded(now)) this.unused += tokens;
    this.#wanted = Math.max(1, Math.ceil(this.#wanted / 2));
  }

  decide(isAllowed: boolean, now: number): Decision {
    return {
      isAllowed,
      limit: this.limit,
      remaining: isAllowed ? this.remaining(now) : 0,
      refillInSeconds: secondsToRefill(this.refillInMs(now)),
    };
  }
}
