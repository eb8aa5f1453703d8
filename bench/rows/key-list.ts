import { join } from "node:path";
import type { KeyListCost } from "../programs/key-list";
import { HOURS, makeOldAndBusy } from "../support/busy-keys";
import { compileProgram } from "../support/compile";
import { type Figure, median } from "../support/figure";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const RUNS = 3;
const KEYS = 1_000;
const REACH_MS = 10;

/** A page of API keys with the counts above it, every key busy in every hour that is kept. */
export async function measureKeyList(workspace: Workspace): Promise<Figure[]> {
  const { dataDir } = await seed(workspace.path("data"), { keys: KEYS });
  makeOldAndBusy(join(dataDir, "allclear.db"));
  const program = compileProgram(workspace, "key-list");
  const costs: KeyListCost[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, dataDir]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    costs.push(JSON.parse(stdout.toString()));
  }
  const middles = Object.keys(costs[0] ?? {})
    .map((what) => ({ what, ms: median(costs.map((cost) => cost[what] ?? Number.NaN)) }))
    .sort((a, b) => b.ms - a.ms);
  const [worst, least] = [middles[0], middles.at(-1)];
  if (!worst || !least) throw new Error("nothing was measured");
  return [
    {
      what: `a page of API keys and its counts, ${KEYS.toLocaleString("en-US")} keys, ${HOURS / 24} days of hours each, p99`,
      target: `${REACH_MS} ms, whatever is asked`,
      measured: `${least.ms.toFixed(1)} ms (${least.what}) to ${worst.ms.toFixed(1)} ms (${worst.what})`,
      isReached: worst.ms <= REACH_MS,
    },
  ];
}
