/**
 * What watches: when monitors are due, their checks, what these decide, and all that follows from it. One
 * timer, one queue of results; what is written is decided in the transaction that writes it.
 */
import type { AppContext } from "../../../context";
import { createEgress, type Egress } from "../../../egress";
import { probeOf } from "../probes";
import { Engine } from "./engine";
import { type ProbeOf, Prober } from "./prober";

export { beginTimeline, enterByHand, refreshAfterChange } from "./by-hand";
export type { Engine } from "./engine";
export { DELAY_BOUNDS_MS, type MonitoringFigures } from "./figures";

/** What watches, not started yet: it checks only what it is asked to. */
export function createMonitoring(
  ctx: AppContext,
  egress: Egress = createEgress(ctx),
  findProbe: ProbeOf = probeOf,
): Engine {
  return new Engine(ctx, new Prober(ctx, egress, findProbe));
}
