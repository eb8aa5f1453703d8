import { OutsideAnswers } from "../../src/egress/outside";
import { type Step, StepRecorder } from "../../src/egress/steps";
import { Prober } from "../../src/features/monitors/engine/prober";
import type { MonitorConfig } from "../../src/features/monitors/probes";
import type { SupportedType } from "../../src/base/status";
import { testConfig } from "./app";
import { createTestClock, type TestClock } from "./clock";
import { testContext } from "./context";
import { createTestEgress } from "./egress";
import { createTestLog } from "./log";

const NAMES = {
  localhost: [["127.0.0.1"]],
  "shop.test": [["127.0.0.1"]],
  "other.test": [["127.0.0.1"]],
};

interface Options {
  names?: Record<string, string[][]>;
  clock?: TestClock;
  env?: Record<string, string>;
}

/** Returns a function that runs checks as *Check now* does, with one egress, and returns their steps. */
export async function createRecordedChecks({
  names = {},
  clock = createTestClock(),
  env = {},
}: Options = {}) {
  const { egress } = await createTestEgress({ ...NAMES, ...names }, { clock, env });
  const outside = new OutsideAnswers(clock);
  const { log } = createTestLog("silent");
  const ctx = testContext({ clock, outside, config: testConfig(), log });
  return async (type: SupportedType, config: MonitorConfig): Promise<readonly Step[]> => {
    const prober = new Prober(ctx, egress);
    const recorder = new StepRecorder(clock);
    try {
      await prober.run(type, config, 10_000, recorder);
    } finally {
      prober.stop();
    }
    return recorder.steps;
  };
}

/** Runs one check and returns its steps, each as a line: name, "failed" if it failed, and detail. */
export async function stepsOf(
  type: SupportedType,
  config: MonitorConfig,
  options: Options = {},
): Promise<string[]> {
  return (await (await createRecordedChecks(options))(type, config)).map(lineOf);
}

/** Describes a step, with `PORT` for a port and `N` for a number of bytes. */
export function lineOf({ name, isOk, detail }: Step): string {
  const facts = detail
    ?.replaceAll(/((?:127\.0\.0\.\d|::1\]):)\d+/g, "$1PORT")
    .replace(/^[\d,]+ bytes?$/, "N bytes");
  return [name, ...(isOk ? [] : ["failed"]), ...(facts === undefined ? [] : [facts])].join(" | ");
}

/** Makes a recorder return these steps, as after a check. */
export function setSteps(recorder: StepRecorder, steps: readonly Step[]): void {
  Object.defineProperty(recorder, "steps", { value: steps });
}
