import type { FreshBytes } from "../programs/fresh-bytes";
import { compileProgram } from "../support/compile";
import { type Figure, median, percentile } from "../support/figure";
import type { Workspace } from "../support/workspace";

const RUNS = 3;
const REACH_MS = 5;

/** Measures the waiting time of the first reader after a change of a large page. */
export async function measureFreshBytes(workspace: Workspace): Promise<Figure[]> {
  const program = compileProgram(workspace, "fresh-bytes");
  const runs: FreshBytes[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, workspace.path("data")]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    runs.push(JSON.parse(stdout.toString()));
  }
  return Object.keys(runs[0] ?? {}).map((what) => {
    const own = runs.map((run) => run[what] ?? { ms: [], bytes: 0 });
    const middle = median(own.map(({ ms }) => median(ms)));
    const worst = median(own.map(({ ms }) => percentile(ms, 99)));
    const size = Math.round((own[0]?.bytes ?? 0) / 1_000);
    return {
      what: `a change → fresh bytes of ${what} (${size} kB), 200 components, 1,000 incidents, median`,
      target: `${REACH_MS} ms`,
      measured: `${middle.toFixed(1)} ms (p99 ${worst.toFixed(1)} ms)`,
      isReached: middle <= REACH_MS,
    };
  });
}
