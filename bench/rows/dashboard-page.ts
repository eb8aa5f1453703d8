import { type Answer, openConnection } from "../support/connection";
import {
  browserRequest,
  DASHBOARD_KEYS,
  DASHBOARD_ENV,
  type Dashboard,
  isScreen,
  seedDashboard,
} from "../support/dashboard";
import type { DashboardPage } from "../support/dashboard-pages";
import { type Figure, median, percentile } from "../support/figure";
import { costOf } from "../support/request-cost";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const RUNS = 3;
const ROUNDS = 200;
/** Until the code is compiled and the file is in memory, as in a server that has run for a while. */
const REHEARSALS = 100;
const REACH_MS = 10;
const INCIDENTS = 10_000;

/** 99th percentiles and median in milliseconds. */
interface PageCost {
  /** Processor time of the server. */
  server: number;
  /** Its median. */
  middle: number;
  /** Waiting time of the client, including other work of the machine. */
  client: number;
}

/** Pages of the dashboard over a socket, compressed, one request at a time. */
export async function measureDashboardPage(workspace: Workspace): Promise<Figure[]> {
  const dashboard = await seedDashboard(workspace.path("data"), { incidents: INCIDENTS });
  const { pages, largePages, previews } = dashboard;
  const asked = [...pages, ...previews, ...largePages];
  const runs: Map<string, PageCost>[] = [];
  const count = workspace.isCompared ? 1 : RUNS;
  for (let run = 0; run < count; run++) runs.push(await measurePages(workspace, dashboard, asked));
  const costsOf = (some: readonly DashboardPage[]) =>
    some
      .filter(({ name }) => runs[0]?.has(name))
      .map(({ name }) => {
        const middle = (of: keyof PageCost) =>
          median(runs.map((run) => run.get(name)?.[of] ?? Number.NaN));
        return {
          name,
          server: middle("server"),
          middle: middle("middle"),
          client: middle("client"),
        };
      });
  const [list, ...others] = costsOf(pages);
  const large = costsOf(largePages);
  const previewed = costsOf(previews);
  if (!list) throw new Error("nothing was measured");
  const written = (number: number) => number.toLocaleString("en-US");
  return [
    figureOf(
      `the page of API keys over a socket, ${written(DASHBOARD_KEYS)} keys, 35 days of hours each, the server's time on its processor, p99`,
      [list],
    ),
    figureOf(`the slowest of the dashboard's ${others.length} other pages, likewise`, others),
    figureOf(
      `the slowest of ${large.length} screens of a status page of 200 components and ${written(INCIDENTS)} incidents, likewise`,
      large,
    ),
    figureOf(`the slowest of ${previewed.length} previews of a usual page, likewise`, previewed),
  ];
}

function figureOf(what: string, costs: readonly (PageCost & { name: string })[]): Figure {
  const slowest = costs.toSorted((a, b) => b.server - a.server)[0];
  if (!slowest) throw new Error("nothing was measured");
  const { name, server, client } = slowest;
  const which = costs.length > 1 ? `${name}; ` : "";
  return {
    what,
    target: `${REACH_MS} ms`,
    measured: `${server.toFixed(1)} ms (${which}a client on this machine waits ${client.toFixed(1)} ms)`,
    isReached: server <= REACH_MS,
    numbers: {
      "p99 of the slowest in ms": server,
      "sum of the medians in ms": costs.reduce((sum, cost) => sum + cost.middle, 0),
    },
  };
}

async function measurePages(
  workspace: Workspace,
  { dataDir, sessions }: Dashboard,
  pages: readonly DashboardPage[],
): Promise<Map<string, PageCost>> {
  const server = await startAllclear(workspace, dataDir, {
    env: { ...DASHBOARD_ENV, ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
  });
  const connection = await openConnection(server.url);
  const costs = new Map<string, PageCost>();
  try {
    for (const [index, page] of pages.entries()) {
      // Each page from a session of its own, whose bucket has room for all of its requests.
      const session = sessions[index];
      if (session === undefined) throw new Error("there are more pages than sessions");
      const request = browserRequest(server.url, page, session);
      if (!isScreen(page, await connection.send(request))) continue;
      const check = (answer: Answer) => void isScreen(page, answer);
      const times = { rounds: ROUNDS, rehearsals: REHEARSALS };
      const spent = await costOf({ server, connection, request, ...times, check });
      costs.set(page.name, {
        server: percentile(spent.server, 99),
        middle: median(spent.server),
        client: percentile(spent.client, 99),
      });
    }
    return costs;
  } finally {
    connection.close();
    await server.stop();
  }
}
