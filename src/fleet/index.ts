/** Parts of a server for more than one machine. Loaded only if one of them is set up. */
import type { AppContext } from "../context";
import { createAlarms, type Fleet } from "../features/alarms";
import { alarmFamilies, type MetricFamily } from "../features/metrics";

export interface RunningFleet extends Fleet {
  metrics: readonly MetricFamily[];
  /** Stops the parts. Called before background work ends. */
  stop(): Promise<void>;
}

/** Starts the parts that are set up. */
export async function startFleet(ctx: AppContext): Promise<RunningFleet> {
  const alarms = createAlarms(ctx);
  return {
    alarms,
    metrics: alarmFamilies(alarms),
    stop: () => alarms.stop(),
  };
}
