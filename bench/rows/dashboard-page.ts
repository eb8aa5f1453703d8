import { openConnection } from "../support/connection";
import {
  browserRequest,
  DASHBOARD_KEYS,
  type Dashboard,
  seedDashboard,
} from "../support/dashboard";
import { type Figure, median, percentile } from "../support/figure";
import { mainThreadMs } from "../support/processor-time";
import { startAllclear } from "../support/server";
import type { Workshop } from "../support/workshop";

const RUNS = 3;
const ROUNDS = 200;
/** Until the code is compiled and the file is in memory, as in a server that has run for a while. */
const REHEARSALS = 100;
/** For the server to fall asleep behind an answer. */
const PAUSE_MS = 1;
const REACH_MS = 10;

/** 99th percentiles in milliseconds. */
interface PageCost {
  /** What the server computed. */
  server: number;
  /** What a client waited, the machine's other work included. */
  client: number;
}

/** Pages of the dashboard over a socket, compressed, one request at a time. */
export async function measureDashboardPage(workshop: Workshop): Promise<Figure[]> {
  const dashboard = await seedDashboard(workshop.path("data"));
  const runs: Map<string, PageCost>[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await measurePages(workshop, dashboard));
  const [list, ...others] = [...(runs[0]?.keys() ?? [])].map((name) => {
    const middle = (of: keyof PageCost) =>
      median(runs.map((run) => run.get(name)?.[of] ?? Number.NaN));
    return { name, server: middle("server"), client: middle("client") };
  });
  const slowest = others.sort((a, b) => b.server - a.server)[0];
  if (!list || !slowest) throw new Error("nothing was measured");
  const reach = `${REACH_MS} ms`;
  const waited = ({ client }: PageCost) => `a client on this machine waits ${client.toFixed(1)} ms`;
  return [
    {
      what: `the page of API keys over a socket, ${DASHBOARD_KEYS.toLocaleString("en-US")} keys, 35 days of hours each, the server's time on its processor, p99`,
      reach,
      measured: `${list.server.toFixed(1)} ms (${waited(list)})`,
      isReached: list.server <= REACH_MS,
    },
    {
      what: `the slowest of the dashboard's ${others.length} other pages, likewise`,
      reach,
      measured: `${slowest.server.toFixed(1)} ms (${slowest.name}; ${waited(slowest)})`,
      isReached: slowest.server <= REACH_MS,
    },
  ];
}

async function measurePages(
  workshop: Workshop,
  { dataDir, pages, sessions }: Dashboard,
): Promise<Map<string, PageCost>> {
  const server = await startAllclear(workshop, dataDir, {
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
  });
  const connection = await openConnection(server.url);
  const costs = new Map<string, PageCost>();
  try {
    for (const [index, page] of pages.entries()) {
      // Each page from a session of its own, whose bucket has room for all of its requests.
      const request = browserRequest(server.url, page, sessions[index] as string);
      if ((await connection.send(request)).headers.has("location")) continue;
      const spent = { server: [] as number[], client: [] as number[] };
      let before = mainThreadMs(server.pid);
      for (let round = -REHEARSALS; round < ROUNDS; round++) {
        const since = Bun.nanoseconds();
        const { status } = await connection.send(request);
        const client = (Bun.nanoseconds() - since) / 1e6;
        if (status === 429) throw new Error(`${page.path} was refused for its limit`);
        await Bun.sleep(PAUSE_MS);
        const after = mainThreadMs(server.pid);
        if (round >= 0) {
          spent.server.push(after - before);
          spent.client.push(client);
        }
        before = after;
      }
      costs.set(page.name, {
        server: percentile(spent.server, 99),
        client: percentile(spent.client, 99),
      });
    }
    return costs;
  } finally {
    connection.close();
    await server.stop();
  }
}
