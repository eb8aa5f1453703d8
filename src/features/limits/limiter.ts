/* Limits of callers: `createLimiter` with its policies, the buckets of one kind of caller, and the buckets themselves. */
import { LRUCache } from "lru-cache";
import type { ClientAddress } from "../../base/client-address";
import type { Clock } from "../../base/clock";
import type { Config } from "../../base/config/options";
import type { RandomBytes } from "../../base/hash";
import { lazy } from "../../base/lazy";
import { MINUTE_MS, SECOND_MS } from "../../base/time";

/**
 * Policies by the names that the `RateLimit` headers use. `subject` ends the sentence "The limit of …
 * is used up".
 */
export const POLICIES = {
  key: { subject: "the API key" },
  public: { subject: "this address for requests without a valid API key" },
  session: { subject: "this session", perMinute: 600 },
  heartbeat: { subject: "this heartbeat token", perMinute: 120 },
  alerts: { subject: "this sender of alerts", perMinute: 1_200 },
  location: { subject: "the agent of this location", perMinute: 600 },
  link: { subject: "this link", perMinute: 10 },
  reporter: { subject: "the token for reports about mails", perMinute: 600 },
  health: { subject: "this address for health checks", perMinute: 1_200 },
  forward: { subject: "this address for requests that the primary answers", perMinute: 600 },
} as const;

export type PolicyName = keyof typeof POLICIES;

/** Charge of one request: its policy and the decision. */
export interface Charge {
  policy: PolicyName;
  decision: Decision;
}

/** Limits of callers. Those that nodes share may have to wait for a charge. */
export interface Limiter {
  /** Charges a live key on a protected route. `rateLimit` is the key's current limit. */
  chargeKey(keyId: string, rateLimit: number): Charge | Promise<Charge>;
  /** Charges a live session under `/admin`, by its id. */
  chargeSession(sessionId: number): Charge;
  /** Charges a valid heartbeat token, by the name of its bucket. */
  chargeHeartbeat(bucket: string): Charge;
  /** Charges the key or token of a sender of alerts, by the name of its bucket. */
  chargeAlerts(bucket: string): Charge;
  /** Charges the agent of a location. All tokens of a location have one bucket. */
  chargeLocation(locationId: string): Charge;
  /** Charges a right link from a mail, by the name of its bucket. */
  chargeLink(bucket: string): Charge;
  /** Charges the token for reports about mails. There is one. */
  chargeReporter(): Charge;
  /**
   * Charges the client address, for all other requests: public routes, unknown paths, rejected
   * credentials.
   */
  chargeAddress(address: ClientAddress): Charge | Promise<Charge>;
  /** Charges the client address for a missing file, by the bucket of this node. */
  chargeMissingFile(address: ClientAddress): Charge;
  /**
   * Charges the client address for health checks, which must not be blocked by page traffic through
   * the same proxy.
   */
  chargeHealthCheck(address: ClientAddress): Charge;
  /** Charges the client address for a request that this replica sends to the primary, which charges the caller. */
  chargeForward(address: ClientAddress): Charge;
  /** Returns the whole requests that a key has left, without taking a token. */
  remainingForKey(keyId: string, rateLimit: number): number;
  /** Returns figures for metrics. */
  stats(): Record<PolicyName, BucketFigures>;
}

/** Limits of one node, which never wait. */
export interface LocalLimiter extends Limiter {
  chargeKey(keyId: string, rateLimit: number): Charge;
  chargeAddress(address: ClientAddress): Charge;
  /** Buckets of keys and addresses, for limits that nodes share. */
  buckets: Readonly<Record<"keys" | "addresses", () => BucketMap>>;
}

/** Number of buckets of one kind of caller, and counters since the start. */
export interface BucketFigures {
  buckets: number;
  /** Requests rejected because a limit was used up. */
  rejected: number;
  /** Requests charged to a counter that callers without a bucket share. */
  overflowed: number;
}

const HEALTH_CHECKERS_MAX = 10_000;
const SESSIONS_MAX = 10_000;

/** Parts of the context that limits need. */
interface LimiterParts {
  clock: Clock;
  config: Config;
  random: RandomBytes;
}

/**
 * Creates limits in memory, with one bucket map per kind of caller, so that none displaces another.
 */
export function createLimiter({ clock, config, random }: LimiterParts): LocalLimiter {
  const { publicRateLimit, bucketCapacity: capacity } = config;
  const healthLimit = POLICIES.health.perMinute;
  const sessionLimit = POLICIES.session.perMinute;
  const heartbeatLimit = POLICIES.heartbeat.perMinute;
  // Created on first use, which shortens the start.
  const callers = (room: number) =>
    lazy(() => new BucketMap({ clock, random, capacity: room, overflowLimit: publicRateLimit }));
  const keys = callers(capacity);
  const sessions = callers(Math.min(capacity, SESSIONS_MAX));
  const heartbeats = callers(capacity);
  const alerts = callers(capacity);
  const locations = callers(capacity);
  const links = callers(capacity);
  const reporter = callers(1);
  const addresses = callers(capacity);
  // Few addresses send health checks.
  const healthChecks = callers(Math.min(capacity, HEALTH_CHECKERS_MAX));
  const forwards = callers(capacity);
  const chargeAddress = ({ network }: ClientAddress): Charge => ({
    policy: "public",
    decision: addresses().take(network, publicRateLimit),
  });
  return {
    chargeKey: (keyId, rateLimit) => ({ policy: "key", decision: keys().take(keyId, rateLimit) }),
    chargeSession: (sessionId) => ({
      policy: "session",
      decision: sessions().take(String(sessionId), sessionLimit),
    }),
    chargeHeartbeat: (bucket) => ({
      policy: "heartbeat",
      decision: heartbeats().take(bucket, heartbeatLimit),
    }),
    chargeAlerts: (bucket) => ({
      policy: "alerts",
      decision: alerts().take(bucket, POLICIES.alerts.perMinute),
    }),
    chargeLocation: (locationId) => ({
      policy: "location",
      decision: locations().take(locationId, POLICIES.location.perMinute),
    }),
    chargeLink: (bucket) => ({
      policy: "link",
      decision: links().take(bucket, POLICIES.link.perMinute),
    }),
    chargeReporter: () => ({
      policy: "reporter",
      decision: reporter().take("reporter", POLICIES.reporter.perMinute),
    }),
    chargeAddress,
    chargeMissingFile: chargeAddress,
    chargeHealthCheck: (address) => ({
      policy: "health",
      decision: healthChecks().take(address.network, healthLimit),
    }),
    chargeForward: (address) => ({
      policy: "forward",
      decision: forwards().take(address.network, POLICIES.forward.perMinute),
    }),
    remainingForKey: (keyId, rateLimit) => keys().remaining(keyId, rateLimit),
    buckets: { keys, addresses },
    stats: () => ({
      key: figuresOf(keys.peek()),
      public: figuresOf(addresses.peek()),
      session: figuresOf(sessions.peek()),
      heartbeat: figuresOf(heartbeats.peek()),
      alerts: figuresOf(alerts.peek()),
      location: figuresOf(locations.peek()),
      link: figuresOf(links.peek()),
      reporter: figuresOf(reporter.peek()),
      health: figuresOf(healthChecks.peek()),
      forward: figuresOf(forwards.peek()),
    }),
  };
}

function figuresOf(map: BucketMap | undefined): BucketFigures {
  const { size: buckets = 0, rejected = 0, overflowed = 0 } = map ?? {};
  return { buckets, rejected, overflowed };
}

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

/** Counters for callers without room, which two bytes of a hash select. */
const COUNTERS = 65_536;
/**
 * Callers for whom a new map has room, until there are more. The cache reserves all of its room at once,
 * which takes 4 to 18 ms and 3.6 MB for 100,000 callers.
 */
const FIRST_ROOM = 1_000;

/**
 * The buckets of one kind of caller, at most `capacity`. An entry lives for the rest of its minute, which no use
 * renews: then the bucket is full, and equals none.
 *
 * An entry is never evicted before, since its owner would return with a fresh bucket. A new caller without room
 * is counted in one of 65,536 counters, each with the limit `overflowLimit`, or the caller's if that is lower, and a
 * minute of its own. A hash of the id with a secret selects it, so that a caller cannot choose whose counter it uses
 * up.
 */
export class BucketMap {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #overflowLimit: number;
  readonly #secret: string;
  /** Numbers of the callers' buckets, in the order in which their minutes began. */
  #numbers: LRUCache<string | number, number>;
  #buckets: Buckets;
  readonly #counters = lazy(() => new Buckets(COUNTERS));
  /** Monotonic time at which the first minute of a full map ends. */
  #fullUntil = Number.NEGATIVE_INFINITY;
  /** Monotonic time at which the minutes of all counters have ended. */
  #countersEndAt = Number.NEGATIVE_INFINITY;
  /** Hash of the last caller whose counter was looked for, since a decision does so twice. */
  readonly #hash = new Uint8Array(32);
  #hashedId: string | undefined;
  /** Reused, so that a decision allocates no object for it. */
  readonly #peekOptions = {};
  #overflowed = 0;
  #rejected = 0;

  constructor(options: {
    clock: Clock;
    random: RandomBytes;
    capacity: number;
    overflowLimit: number;
  }) {
    this.#clock = options.clock;
    this.#capacity = options.capacity;
    this.#overflowLimit = options.overflowLimit;
    this.#secret = Buffer.from(options.random(16)).toString("hex");
    const room = Math.min(FIRST_ROOM, this.#capacity);
    this.#numbers = new LRUCache({ max: room });
    this.#buckets = new Buckets(room);
  }

  /** Takes one token from the caller's bucket, or from a counter if there is no room. */
  take(id: string, limit: number): Decision {
    const now = this.#clock.monotonic();
    const number = this.#numberOf(id, now);
    const decision =
      number === undefined
        ? this.#takeFromCounter(id, limit, now)
        : this.#buckets.take(number, limit, now);
    if (!decision.isAllowed) this.#rejected += 1;
    return decision;
  }

  /** Number of requests charged to a counter since the start. */
  get overflowed(): number {
    return this.#overflowed;
  }

  /** Number of requests refused since the start. */
  get rejected(): number {
    return this.#rejected;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** Returns the tokens that a caller has left, without taking one. */
  remaining(id: string, limit: number): number {
    const now = this.#clock.monotonic();
    const found = this.#find(id, limit, now);
    return found ? found.buckets.left(found.number, found.limit, now) : limit;
  }

  /** Returns the whole seconds until a caller has a token: 0 if it has one. */
  waitSeconds(id: string, limit: number): number {
    const now = this.#clock.monotonic();
    const found = this.#find(id, limit, now);
    if (!found || found.buckets.left(found.number, found.limit, now) > 0) return 0;
    return secondsToRefill(found.buckets.refillInMs(found.number, now));
  }

  /** Notes what is known of a caller's bucket. Without room for it, nothing is noted. */
  raise(id: string, taken: number, refillInMs: number): void {
    if (taken <= 0 || refillInMs <= 0) return;
    const now = this.#clock.monotonic();
    const number = this.#numberOf(id, now);
    if (number !== undefined) this.#buckets.raise(number, taken, refillInMs, now);
  }

  /** Returns the bucket or the counter of a caller, and its limit; undefined for a caller without either. */
  #find(id: string, limit: number, now: number) {
    const number = this.#numbers.peek(keyOf(id));
    if (number !== undefined) return { buckets: this.#buckets, number, limit };
    if (!this.#isCounted(id, now)) return undefined;
    return {
      buckets: this.#counters(),
      number: this.#counterOf(id),
      limit: this.#limitOfCounter(limit),
    };
  }

  /** Returns the number of a caller's bucket, which begins a minute if it is full; undefined without room. */
  #numberOf(id: string, now: number): number | undefined {
    const key = keyOf(id);
    let number = this.#numbers.peek(key, this.#peekOptions);
    if (number !== undefined && this.#buckets.refillInMs(number, now) > 0) return number;
    // A caller whose counter has a minute stays there until its end, so that it has one limit in a minute.
    number ??= this.#isCounted(id, now) ? undefined : this.#findFree(now);
    // Moves it to the end of the order. Without room for one more, the cache evicts the first.
    if (number !== undefined) this.#numbers.set(key, number);
    return number;
  }

  /** Returns the number of a bucket that no caller needs; undefined if there is none. */
  #findFree(now: number): number | undefined {
    if (this.#numbers.size < this.#numbers.max) return this.#numbers.size;
    if (now < this.#fullUntil) return undefined;
    const [first = 0] = this.#numbers.rvalues();
    const refillInMs = this.#buckets.refillInMs(first, now);
    if (refillInMs === 0) return first;
    if (this.#numbers.max < this.#capacity) {
      this.#grow();
      return this.#numbers.size;
    }
    this.#fullUntil = now + refillInMs;
    return undefined;
  }

  /** Moves the buckets to a cache with room for `capacity` callers. */
  #grow(): void {
    const former = this.#numbers;
    this.#numbers = new LRUCache({ max: this.#capacity });
    former.rforEach((number, key) => this.#numbers.set(key, number));
    this.#buckets = new Buckets(this.#capacity, this.#buckets);
  }

  #takeFromCounter(id: string, limit: number, now: number): Decision {
    this.#overflowed += 1;
    this.#countersEndAt = now + MINUTE_MS;
    return this.#counters().take(this.#counterOf(id), this.#limitOfCounter(limit), now);
  }

  /** Returns the limit that a counter has for a caller: never more than the caller's own. */
  #limitOfCounter(limit: number): number {
    return Math.min(limit, this.#overflowLimit);
  }

  /** Returns true if a counter would count the caller in a minute that has begun. */
  #isCounted(id: string, now: number): boolean {
    return now < this.#countersEndAt && this.#counters().refillInMs(this.#counterOf(id), now) > 0;
  }

  #counterOf(id: string): number {
    if (id !== this.#hashedId) {
      this.#hashedId = id;
      Bun.SHA256.hash(this.#secret + id, this.#hash);
    }
    return (this.#hash[0] as number) * 256 + (this.#hash[1] as number);
  }
}

const [ZERO, NINE, DOT] = [48, 57, 46];

/** Returns an IPv4 address as a number, which takes less memory than a text, and any other id unchanged. */
function keyOf(id: string): string | number {
  let address = 0;
  let byte = -1;
  let dots = 0;
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at);
    if (code === DOT && byte >= 0) {
      address = address * 256 + byte;
      byte = -1;
      dots += 1;
    } else if (code >= ZERO && code <= NINE) {
      byte = Math.max(0, byte) * 10 + code - ZERO;
      if (byte > 255) return id;
    } else return id;
  }
  return dots === 3 && byte >= 0 ? address * 256 + byte : id;
}
