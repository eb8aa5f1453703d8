/**
 * What watches: when monitors are due, their checks, what these decide, and all that follows from it. One
 * timer, one queue of results; what is written is decided in the transaction that writes it.
 */
import type { AppContext } from "../../../context";
import { createEgress, type Egress } from "../../../egress";
import { Engine } from "./engine";
import { Prober, type ProberOptions } from "./prober";

export { beginTimeline, applyManualTransition, refreshAfterChange } from "./manual-transitions";
export type { Engine } from "./engine";
export { DELAY_BOUNDS_MS, type MonitoringFigures } from "./figures";

/** What watches, not started yet: it checks only what it is asked to. */
export function createMonitoring(
  ctx: AppContext,
  egress: Egress = createEgress(ctx),
  options?: ProberOptions,
): Engine {
  return new Engine(ctx, new Prober(ctx, egress, options));
}
