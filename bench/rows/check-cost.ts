import { type Figure, median } from "../support/figure";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { seedMonitors, startTarget } from "../support/watching";
import type { Workshop } from "../support/workshop";

const MONITORS = 2_000;
const INTERVAL_SECONDS = 10;
/** Until the code is compiled, and every monitor is up. */
const WARM_UP_MS = 30_000;
const ROUNDS = 3;
const ROUND_MS = 15_000;
const REACH_US = 250;

/**
 * What one check of HTTP costs the server on its processors, all its threads and all that it does
 * meanwhile included: schedule, connection, request, rules and storage.
 */
export async function measureCheckCost(workshop: Workshop): Promise<Figure[]> {
  const { dataDir } = await seed(workshop.path("data"));
  const target = await startTarget(workshop);
  await seedMonitors(dataDir, {
    count: MONITORS,
    intervalSeconds: INTERVAL_SECONDS,
    url: target.url,
  });
  const server = await startAllclear(workshop, dataDir);
  try {
    await Bun.sleep(WARM_UP_MS);
    const costs: number[] = [];
    let checks = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const before = { ms: processMs(server.pid), seen: await target.seen() };
      await Bun.sleep(ROUND_MS);
      const own = (await target.seen()).requests - before.seen.requests;
      checks += own;
      costs.push(((processMs(server.pid) - before.ms) * 1_000) / own);
    }
    const cost = median(costs);
    return [
      {
        what: `processor time of one HTTP check, all included, ${checks.toLocaleString("en-US")} of ${MONITORS.toLocaleString("en-US")} monitors`,
        reach: `${REACH_US} µs`,
        measured: `${cost.toFixed(0)} µs (${Math.min(...costs).toFixed(0)} to ${Math.max(...costs).toFixed(0)})`,
        isReached: cost <= REACH_US,
      },
    ];
  } finally {
    await server.stop();
    await target.stop();
  }
}
