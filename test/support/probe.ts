import { AssertionEvaluator } from "../../src/features/monitors/assertions/evaluator";
import type { ProbeContext, ProbeResult } from "../../src/features/monitors/monitoring";
import { type MonitorConfig, probeOf } from "../../src/features/monitors/probes";
import type { MonitorType } from "../../src/base/status";
import { createTestEgress, patience } from "./egress";

/** Validates a configuration and runs one check of it. All names resolve to this machine. */
export async function probe(
  type: MonitorType,
  config: MonitorConfig,
  more: { names?: Record<string, string[][]>; context?: Partial<ProbeContext> } = {},
): Promise<ProbeResult> {
  const { validate, run } = probeOf(type);
  const faults = validate(config);
  if (faults.length > 0) throw new Error(`the config is refused: ${JSON.stringify(faults)}`);
  if (!run) throw new Error(`${type} is not an active check`);
  const names = { localhost: [["127.0.0.1"]], ...more.names };
  const { egress, clock } = await createTestEgress(names);
  const evaluator = new AssertionEvaluator(clock);
  return run(config, { egress, clock, evaluator, signal: patience(), ...more.context });
}
