import type { Config } from "../../base/config/options";
import type { Charge, Limiter, LocalLimiter } from "../../features/limits/limiter";
import type { Decision } from "../../features/limits/bucket";
import type { Clock } from "../../base/clock";
import type { Valkey } from "./client";
import { SharedBuckets } from "./shared-buckets";

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
