/**
 * What watches: when monitors are due, their checks, what these decide, and all that follows from it. One
 * timer, one queue of results; what is written is decided in the transaction that writes it.
 */
import type { AppContext } from "../../../context";
import { Engine } from "./engine";
import type { Probing } from "./prober";

export { beginTimeline, enterByHand, refreshAfterChange } from "./by-hand";
export type { Engine } from "./engine";
export { DELAY_BOUNDS_MS, type MonitoringFigures } from "./figures";
export type { Probing } from "./prober";

/** What watches, not started yet: it checks only what it is asked to. */
export function createMonitoring(
  ctx: AppContext,
  load: () => Probing | Promise<Probing> = () => loadProbing(ctx),
): Engine {
  return new Engine(ctx, load);
}

/** On demand: it brings parts of the runtime with it that take their time to start. */
async function loadProbing(ctx: AppContext): Promise<Probing> {
  const [{ createEgress }, { probeOf }] = await Promise.all([
    import("../../../egress"),
    import("../probes"),
  ]);
  return { egress: createEgress(ctx), probeOf };
}
