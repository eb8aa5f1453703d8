import { type Figure, median, megabytes } from "../support/figure";
import { residentBytes } from "../support/memory";
import { mainThreadMs } from "../support/processor-time";
import { isAnswered, untilAnswered } from "../support/ready";
import { startAllclear } from "../support/server";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const RUNS = 20;
const REACH_MS = 40;
const DASHBOARD_REACH_MS = 150;

/**
 * From exec to the first `/readyz` that answers 200, with a migrated database: the clock starts right
 * before the process is made, and a client connects again as soon as it was refused. The same for a status
 * page, whose first request renders it. At last, the dashboard's first request, and the memory before it.
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
    starts.push(await startOnce(workspace, dataDir, port, "/readyz"));
    pageTimes.push((await startOnce(workspace, dataDir, port, "/status/acme")).ms);
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

interface Start {
  /** Milliseconds until the server is ready. */
  ms: number;
  /** Processor time of the main thread until then, in milliseconds. */
  workMs: number;
  /** Resident memory right after that. */
  readyBytes: number;
  /** Milliseconds of the dashboard's first request after that. */
  dashboardMs: number;
}

async function startOnce(
  workspace: Workspace,
  dataDir: string,
  port: number,
  path: string,
): Promise<Start> {
  const { allclear } = workspace;
  const since = performance.now();
  const child = Bun.spawn(
    [allclear, "serve", "--data-dir", dataDir, "--listen", `127.0.0.1:${port}`],
    { env: {}, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  try {
    await untilAnswered(child, port, path);
    const ms = performance.now() - since;
    const workMs = mainThreadMs(child.pid);
    const readyBytes = residentBytes(child.pid);
    const asked = performance.now();
    if (!(await isAnswered(port, "/admin/sign-in"))) throw new Error("the dashboard failed");
    return { ms, workMs, readyBytes, dashboardMs: performance.now() - asked };
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}
