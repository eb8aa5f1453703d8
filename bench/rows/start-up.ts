import { type Figure, median, megabytes } from "../support/figure";
import { startAllclear } from "../support/server";
import { type Start, startOnce } from "../support/start-once";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const RUNS = 20;
const REACH_MS = 32;
const DASHBOARD_REACH_MS = 150;

/**
 * From exec to the first `/readyz` that answers 200, with a migrated database. The same for a status page,
 * whose first request renders it. At last, the dashboard's first request, and the memory before it.
 */
export async function measureStartUp(workspace: Workspace): Promise<Figure[]> {
  const { dataDir } = await seed(workspace.path("data"));
  // The first start of a folder writes what later ones only read; it also tells of a free port.
  const first = await startAllclear(workspace, dataDir);
  const port = Number(new URL(first.url).port);
  await first.stop();

  const starts: Start[] = [];
  const pageTimes: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    starts.push(await startOnce(workspace, { dataDir, port, path: "/readyz" }));
    pageTimes.push((await startOnce(workspace, { dataDir, port, path: "/status/acme" })).ms);
  }
  const times = starts.map(({ ms }) => ms);
  const time = median(times);
  const dashboardTime = median(starts.map(({ dashboardMs }) => dashboardMs));
  return [
    {
      what: `from exec to \`/readyz\` 200, migrated database (median of ${RUNS})`,
      target: `${REACH_MS} ms`,
      measured: rangeOf(times),
      isReached: time <= REACH_MS,
      numbers: {
        "median in ms": time,
        "processor time of the main thread in ms": median(starts.map(({ workMs }) => workMs)),
      },
    },
    {
      what: "the same to the first status page",
      target: "",
      measured: rangeOf(pageTimes),
      isReached: undefined,
      numbers: { "median in ms": median(pageTimes) },
    },
    {
      what: "the dashboard's first request, right after that of `/readyz`",
      target: `${DASHBOARD_REACH_MS} ms`,
      measured: rangeOf(starts.map(({ dashboardMs }) => dashboardMs)),
      isReached: dashboardTime <= DASHBOARD_REACH_MS,
      numbers: { "median in ms": dashboardTime },
    },
    {
      what: "resident memory when ready",
      target: "",
      measured: megabytes(median(starts.map(({ readyBytes }) => readyBytes))),
      isReached: undefined,
      numbers: { MB: median(starts.map(({ readyBytes }) => readyBytes)) / 1e6 },
    },
  ];
}

function rangeOf(times: readonly number[]): string {
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return `${median([...times]).toFixed(1)} ms (${least.toFixed(1)} to ${most.toFixed(1)})`;
}
