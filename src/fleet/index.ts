/** Parts of a server for more than one machine. Loaded only if one of them is set up. */
import type { AppContext } from "../context";
import type { Egress } from "../egress";
import { createAlarms, type Fleet } from "../features/alarms";
import type { ClientAddresses } from "../http";
import { alarmFamilies, type MetricFamily } from "../features/metrics";

export interface RunningFleet extends Fleet {
  metrics: readonly MetricFamily[];
  /** Stops the parts. Called before background work ends. */
  stop(): Promise<void>;
}

/** Parts of the server that the parts here use. */
export interface FleetDependencies {
  egress: Egress;
  addresses: ClientAddresses;
}

/** Starts the parts that are set up. */
export async function startFleet(
  ctx: AppContext,
  { egress, addresses }: FleetDependencies,
): Promise<RunningFleet> {
  const alarms = createAlarms(ctx);
  const cdn =
    ctx.config.cdn === undefined
      ? undefined
      : (await import("./cdn")).startCdn(ctx, { alarms, egress, addresses });
  return {
    alarms,
    ...(cdn && { cdn: cdn.state }),
    metrics: alarmFamilies(alarms),
    async stop() {
      await cdn?.stop();
      await alarms.stop();
    },
  };
}
