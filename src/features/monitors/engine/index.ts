/**
 * The check engine: schedules and runs checks, evaluates their results and applies transitions. One
 * timer starts all checks. Results wait in a queue and are evaluated in the transaction that writes
 * them.
 */
import type { AppContext } from "../../../context";
import { createEgress, type Egress } from "../../../egress";
import { Engine } from "./engine";
import { Prober, type ProberOptions } from "./prober";

export type { Engine } from "./engine";
export { DELAY_BOUNDS_MS, type MonitoringFigures } from "./figures";

/** Creates the engine. Until `start`, it runs only checks that a user or the API requests. */
export function createMonitoring(
  ctx: AppContext,
  egress: Egress = createEgress(ctx),
  options?: ProberOptions,
): Engine {
  return new Engine(ctx, new Prober(ctx, egress, options));
}
