/**
 * The check engine: schedules and runs checks, evaluates their results and applies transitions. One
 * timer starts all checks. Results wait in a queue and are evaluated in the transaction that writes
 * them.
 *
 * Steps of a check: `check-scheduler.ts` sets its due time, `check-queue.ts` gives it a place,
 * `check-runner.ts` runs it with `prober.ts`, and after a failure `dependencies.ts` asks for the checks of
 * parents. If this process stood still meanwhile (`stalls.ts`), the check is repeated. `result-processor.ts`
 * evaluates the result in memory, to schedule the next check, and passes it to `recorder.ts`. `record.ts` writes
 * it, and evaluates it again by the database, which decides.
 * `transitions.ts` writes the consequences of a new state.
 */
import type { Ctx } from "../../../context";
import { createEgress, type Egress } from "../../../egress/egress";
import { Engine } from "./engine";
import { Prober, type ProberOptions } from "./prober";
import { Stalls } from "./stalls";

export type { Engine } from "./engine";
export type { FindProbe } from "./prober";
export { DELAY_BOUNDS_MS, type MonitoringFigures } from "./figures";

interface MonitoringOptions extends ProberOptions {
  /** True to repeat checks during which this process stood still. */
  detectsStalls?: boolean;
}

/** Creates the engine. Until `start`, it runs only checks that a user or the API requests. */
export function createMonitoring(
  ctx: Ctx,
  egress: Egress = createEgress(ctx),
  { detectsStalls = false, ...options }: MonitoringOptions = {},
): Engine {
  const stalls = new Stalls(ctx.clock);
  const prober = new Prober(ctx, egress, { ...options, stalls });
  return new Engine(ctx, prober, { stalls, detectsStalls, alarms: options.alarms });
}
