import type { Config } from "../../base/config/options";
import type { LocalLimiter } from "../../features/limits/limiter";
import type { MetricFamily } from "../../features/metrics/metrics";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { type Beats, type NodeBeat, startBeats } from "./beats";
import { openValkey, type Valkey } from "./client";
import { type SharedLimiter, shareLimits } from "./shared-buckets";

export type { NodeBeat } from "./beats";

/** Memory that the nodes of a fleet share in Valkey. Without it, limits are each node's own. */
export interface SharedMemory {
  valkey: Valkey;
  beats: Beats;
  /** Shares the limits of keys and addresses. Called once. */
  shareLimits(local: LocalLimiter): SharedLimiter;
  metrics: readonly MetricFamily[];
  stop(): Promise<void>;
}

interface SharedMemoryDependencies {
  config: Config;
  clock: Clock;
  log: Log;
  /** State of this node for the others. */
  beat: () => NodeBeat;
  /** Revision from which the changes of keys of this primary are complete. */
  leastRevision?: () => number;
}

/** Connects a node to the Valkey of its fleet. Resolves also while Valkey does not answer. */
export async function openSharedMemory({
  config,
  clock,
  log,
  beat,
  leastRevision = () => 0,
}: SharedMemoryDependencies): Promise<SharedMemory> {
  const valkey = await openValkey({ config, clock, log });
  const beats = startBeats({ valkey, clock, beat, leastRevision });
  let limiter: SharedLimiter | undefined;
  return {
    valkey,
    beats,
    shareLimits(local) {
      limiter = shareLimits(local, { config, clock, valkey, nodes: beats.nodes });
      return limiter;
    },
    metrics: [
      {
        name: "allclear_limits_local_total",
        help: "Decisions about shared rate limits that this node took alone.",
        type: "counter",
        read: () => [{ value: limiter?.localDecisions() ?? 0 }],
      },
    ],
    async stop() {
      await limiter?.stop();
      await beats.stop();
      valkey.stop();
    },
  };
}
