/**
 * The check engine: schedule, checks, evaluation and its consequences. It has one timer and one
 * queue of results, which are evaluated in the transaction that writes them.
 */
import type { AppContext } from "../../../context";
import { createEgress, type Egress } from "../../../egress";
import { Engine } from "./engine";
import { Prober, type ProberOptions } from "./prober";

export type { Engine } from "./engine";
export { DELAY_BOUNDS_MS, type MonitoringFigures } from "./figures";

/** Creates the engine without starting it: only requested checks run. */
export function createMonitoring(
  ctx: AppContext,
  egress: Egress = createEgress(ctx),
  options?: ProberOptions,
): Engine {
  return new Engine(ctx, new Prober(ctx, egress, options));
}
