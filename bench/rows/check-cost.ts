import { compileProgram } from "../support/compile";
import { type Figure, median } from "../support/figure";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { type Server, startAllclear, startServer } from "../support/server";
import { seedMonitors, startTarget, type Target } from "../support/watching";
import type { Workspace } from "../support/workspace";

const MONITORS = 2_000;
const INTERVAL_SECONDS = 5;
/** Until the code is compiled, and every monitor is up. */
const WARM_UP_MS = 30_000;
const ROUNDS = 3;
const ROUND_MS = 15_000;
const REACH_US = 250;

/**
 * Measures the processor time of one HTTP check in all threads of the server, with schedule,
 * connection, request, rules and storage.
 */
export async function measureCheckCost(workspace: Workspace): Promise<Figure[]> {
  const { dataDir } = await seed(workspace.path("data"));
  const targetServer = await startTarget(workspace);
  await seedMonitors(dataDir, {
    count: MONITORS,
    intervalSeconds: INTERVAL_SECONDS,
    url: targetServer.url,
  });
  const server = await startAllclear(workspace, dataDir);
  const bareTarget = await startTarget(workspace);
  const rate = String(MONITORS / INTERVAL_SECONDS);
  const bare = await startServer(workspace, [
    compileProgram(workspace, "bare-checks"),
    bareTarget.url,
    rate,
  ]);
  try {
    await Bun.sleep(WARM_UP_MS);
    const rounds: { cost: number; bare: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const whose = await Promise.all([
        costOfEach(server, targetServer),
        // At the same time: what else the machine does slows both.
        costOfEach(bare, bareTarget),
      ]);
      rounds.push({ cost: whose[0], bare: whose[1] });
    }
    const costs = rounds.map(({ cost }) => cost);
    const cost = median(costs);
    const ratio = median(rounds.map((round) => round.cost / round.bare));
    const bareCost = median(rounds.map((round) => round.bare));
    return [
      {
        what: `processor time of one HTTP check, all included, ${MONITORS.toLocaleString("en-US")} monitors at ${INTERVAL_SECONDS} s`,
        target: `${REACH_US} µs`,
        measured: `${cost.toFixed(0)} µs (${Math.min(...costs).toFixed(0)} to ${Math.max(...costs).toFixed(0)})`,
        isReached: cost <= REACH_US,
        numbers: { "µs per check": cost, "ratio to bare `node:http`": ratio },
      },
      {
        what: "the same of a request by bare `node:http`, meanwhile",
        target: "",
        measured: `${bareCost.toFixed(0)} µs (a check costs ${ratio.toFixed(2)} of it)`,
      },
    ];
  } finally {
    for (const started of [server, bare, targetServer, bareTarget]) await started.stop();
  }
}

/** Microseconds of processor time for each request that a target gets in a round. */
async function costOfEach({ pid }: Server, targetServer: Target): Promise<number> {
  const before = { ms: processMs(pid), requests: (await targetServer.seen()).requests };
  await Bun.sleep(ROUND_MS);
  const spentMs = processMs(pid) - before.ms;
  return (spentMs * 1_000) / ((await targetServer.seen()).requests - before.requests);
}
