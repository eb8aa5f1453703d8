import type { AppContext } from "../../context";
import type { ClientAddress } from "../../kernel/client-address";
import { lazy } from "../../kernel/lazy";
import type { Decision } from "./bucket";
import { BucketMap } from "./bucket-map";

/**
 * The limits that a request can be counted against, by the name that the `RateLimit` headers give
 * them. `whose` ends the sentence "The limit of … is used up".
 */
export const POLICIES = {
  key: { whose: "the API key" },
  public: { whose: "this address for requests without a valid API key" },
  session: { whose: "this session", perMinute: 600 },
  heartbeat: { whose: "this heartbeat token", perMinute: 60 },
  health: { whose: "this address for health checks", perMinute: 1_200 },
} as const;

export type PolicyName = keyof typeof POLICIES;

/** One request's token: from whose bucket, and what became of it. */
export interface Charge {
  policy: PolicyName;
  decision: Decision;
}

export interface Limiter {
  /** A live key on a protected route. `rateLimit` is the key's own, as it is now. */
  chargeKey(keyId: string, rateLimit: number): Charge;
  /** A live session under `/admin`, by its id. */
  chargeSession(sessionId: number): Charge;
  /** A right heartbeat token, by the monitor that it belongs to. */
  chargeHeartbeat(monitorId: string): Charge;
  /** Every request that is nobody else's: public routes, unknown paths, refused credentials. */
  chargeAddress(address: ClientAddress): Charge;
  /** `/healthz` and `/readyz`, which page traffic behind the same proxy must not starve. */
  chargeHealthCheck(address: ClientAddress): Charge;
  /** Whole requests that a key could make now. Takes no token. */
  remainingForKey(keyId: string, rateLimit: number): number;
  /** For metrics. */
  stats(): Record<PolicyName, BucketFigures>;
}

/** The buckets that are held for a kind of caller, and what became of requests since the start. */
export interface BucketFigures {
  buckets: number;
  /** Refused because a limit was used up. */
  refused: number;
  /** Counted against a shared bucket. */
  overflowed: number;
}

const HEALTH_CHECKERS_MAX = 10_000;
const SESSIONS_MAX = 10_000;

/** In-process limits, one bucket map a kind of caller, so that none crowds out another. */
export function createLimiter(ctx: Pick<AppContext, "clock" | "config">): Limiter {
  const { publicRateLimit, bucketCapacity: capacity } = ctx.config;
  const { clock } = ctx;
  const healthLimit = POLICIES.health.perMinute;
  const sessionLimit = POLICIES.session.perMinute;
  const heartbeatLimit = POLICIES.heartbeat.perMinute;
  // Room for a hundred thousand callers takes milliseconds to make: not while the server starts.
  const callers = (room: number, neighbourhood: (id: string) => string) =>
    lazy(
      () => new BucketMap({ clock, capacity: room, overflowLimit: publicRateLimit, neighbourhood }),
    );
  const keys = callers(capacity, (keyId) => keyId);
  const sessions = callers(Math.min(capacity, SESSIONS_MAX), (sessionId) => sessionId);
  const heartbeats = callers(capacity, (monitorId) => monitorId);
  const addresses = callers(capacity, addressNeighbourhood);
  // Health checkers are few; room for a flood of them would be memory that nobody uses.
  const healthChecks = callers(Math.min(capacity, HEALTH_CHECKERS_MAX), addressNeighbourhood);
  return {
    chargeKey: (keyId, rateLimit) => ({ policy: "key", decision: keys().take(keyId, rateLimit) }),
    chargeSession: (sessionId) => ({
      policy: "session",
      decision: sessions().take(String(sessionId), sessionLimit),
    }),
    chargeHeartbeat: (monitorId) => ({
      policy: "heartbeat",
      decision: heartbeats().take(monitorId, heartbeatLimit),
    }),
    chargeAddress: (address) => ({
      policy: "public",
      decision: addresses().take(address.network, publicRateLimit),
    }),
    chargeHealthCheck: (address) => ({
      policy: "health",
      decision: healthChecks().take(address.network, healthLimit),
    }),
    remainingForKey: (keyId, rateLimit) => keys().remaining(keyId, rateLimit),
    stats: () => ({
      key: figuresOf(keys.peek()),
      public: figuresOf(addresses.peek()),
      session: figuresOf(sessions.peek()),
      heartbeat: figuresOf(heartbeats.peek()),
      health: figuresOf(healthChecks.peek()),
    }),
  };
}

function figuresOf(map: BucketMap | undefined): BucketFigures {
  const { size: buckets = 0, refused = 0, overflowed = 0 } = map ?? {};
  return { buckets, refused, overflowed };
}

/** The /16 of an IPv4 address, the /32 of an IPv6 network: who shares an overflow bucket. */
export function addressNeighbourhood(network: string): string {
  return network.split(network.includes(":") ? ":" : ".", 2).join();
}
