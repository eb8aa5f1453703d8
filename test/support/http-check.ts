import { AssertionEvaluator } from "../../src/features/monitors/assertions";
import { httpProbe } from "../../src/features/monitors/probes/http";
import type { HttpConfig } from "../../src/features/monitors/probes/http-config";
import type { TestClock } from "./clock";
import { createTestEgress, patience } from "./egress";

/** Names that the checks can resolve, all to this machine. */
const NAMES = { "shop.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]] };

/** Runs one check of a validated configuration. */
export async function checkHttp(
  config: HttpConfig,
  {
    names = NAMES,
    signal = patience(),
    clock,
  }: { names?: Record<string, string[][]>; signal?: AbortSignal; clock?: TestClock } = {},
) {
  const problems = httpProbe.validate(config);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const testEgress = await createTestEgress(names, clock ? { clock } : {});
  const evaluator = new AssertionEvaluator(testEgress.clock);
  try {
    return await httpProbe.run(config, {
      egress: testEgress.egress,
      clock: testEgress.clock,
      evaluator,
      signal,
    });
  } finally {
    evaluator.stop();
  }
}
