import { AssertionEvaluator } from "../../src/features/monitors/assertions/evaluator";
import { httpProbe } from "../../src/features/monitors/probes/http";
import type { HttpConfig } from "../../src/features/monitors/probes/http-config";
import { createTestClock, type TestClock } from "./clock";
import { createTestEgress, patience } from "./egress";

/** Names that the checks can resolve, all to this machine. */
const NAMES = { "shop.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]] };

interface Options {
  names?: Record<string, string[][]>;
  clock?: TestClock;
}

/** Returns a function that runs checks of validated configurations with one egress. */
export async function createHttpChecks({ names = NAMES, clock = createTestClock() }: Options = {}) {
  const { egress } = await createTestEgress(names, { clock });
  return async (config: HttpConfig, signal = patience()) => {
    const problems = httpProbe.validate(config);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    const evaluator = new AssertionEvaluator(clock);
    try {
      return await httpProbe.run(config, { egress, clock, evaluator, signal });
    } finally {
      evaluator.stop();
    }
  };
}

/** Runs one check of a validated configuration. */
export async function checkHttp(
  config: HttpConfig,
  { signal = patience(), ...options }: Options & { signal?: AbortSignal } = {},
) {
  return (await createHttpChecks(options))(config, signal);
}
