import type { Config } from "../../base/config/options";
import type { Clock } from "../../base/clock";
import type { RandomBytes } from "../../base/hash";
import type { ClientAddress } from "../../base/client-address";
import { lazy } from "../../base/lazy";
import { BucketMap, type Decision } from "./buckets";

/**
 * Policies by the names that the `RateLimit` headers use. `subject` ends the sentence "The limit of …
 * is used up".
 */
export const POLICIES = {
  key: { subject: "the API key" },
  public: { subject: "this address for requests without a valid API key" },
  session: { subject: "this session", perMinute: 600 },
  heartbeat: { subject: "this heartbeat token", perMinute: 120 },
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
