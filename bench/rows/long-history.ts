import { changesOf } from "../support/component-changes";
import { type Connection, openConnection, requestText } from "../support/connection";
import { type Figure, median, percentile } from "../support/figure";
import { openData } from "../support/open-data";
import { costOf, type RequestCost } from "../support/request-cost";
import { seed } from "../support/seed";
import { type History, type HistoryOptions, seedHistory } from "../support/seed-history";
import { type Server, startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const TURNS = 3;
/** Of each turn. */
const ROUNDS = 100;
const REHEARSALS = 100;
const REACH_MS = 10;
/** Of a hundred times as many incidents; what is above it grows with them. */
const REACH_RATIO = 1.25;
/** Number of days in the short past, slightly more than the bars of a page show. */
const SHORT_DAYS = 95;
const TIMES = 100;
/** The end of the long past: all that a page shows of it, and all that fills a list. */
const SHORT = {
  incidents: 100,
  days: SHORT_DAYS,
  updates: 10,
  maintenances: 100,
  hasWeakSpot: true,
};
const LONG = {
  ...SHORT,
  incidents: TIMES * SHORT.incidents,
  days: TIMES * SHORT_DAYS,
  maintenances: 10 * SHORT.maintenances,
};

/** A page with a past, served. */
interface Installation {
  server: Server;
  connection: Connection;
  /** By what a figure calls it, each as it is sent. */
  requests: Record<string, string>;
  /** Changes another component of the page at each call, through the API. */
  change(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Measures compressed reads of a page with a long past, each directly after a change of the page.
 * They alternate with reads of the same page with a short past, one request at a time.
 */
export async function measureLongHistory(workspace: Workspace): Promise<Figure[]> {
  const demoData = [
    await fillDemoData(workspace, SHORT),
    await fillDemoData(workspace, LONG),
  ] as const;
  const short = await openInstallation(workspace, demoData[0]);
  const long = await openInstallation(workspace, demoData[1]);
  try {
    const figures: Figure[] = [];
    for (const what of Object.keys(long.requests)) {
      const costs = { short: nothing(), long: nothing() };
      for (let turn = 0; turn < TURNS; turn++) {
        await ask(short, what, turn, costs.short);
        await ask(long, what, turn, costs.long);
      }
      const server = percentile(costs.long.server, 99);
      const client = percentile(costs.long.client, 99);
      const ratio = median(costs.long.server) / median(costs.short.server);
      figures.push({
        what: `${what} just after a change, 10,000 incidents and 100,000 updates, the server's time on its processor, p99`,
        target: `${REACH_MS} ms, and flat`,
        measured: `${server.toFixed(1)} ms (a client on this machine waits ${client.toFixed(1)} ms; the median is ${ratio.toFixed(2)} of that of 100 incidents)`,
        isReached: server <= REACH_MS && ratio <= REACH_RATIO,
        numbers: { "p99 in ms": server, "median in ms": median(costs.long.server) },
      });
    }
    return figures;
  } finally {
    await short.close();
    await long.close();
  }
}

function nothing(): RequestCost {
  return { server: [], client: [] };
}

async function ask(
  installation: Installation,
  what: string,
  turn: number,
  known: RequestCost,
): Promise<void> {
  const { server, connection, requests, change } = installation;
  const cost = await costOf({
    server,
    connection,
    request: requests[what] ?? "",
    rounds: ROUNDS,
    rehearsals: turn === 0 ? REHEARSALS : 0,
    before: change,
    check({ status }) {
      if (status !== 200) throw new Error(`${what} was answered ${status}`);
    },
  });
  known.server.push(...cost.server);
  known.client.push(...cost.client);
}

interface DemoData {
  dataDir: string;
  history: History;
  key: string;
}

async function fillDemoData(workspace: Workspace, options: HistoryOptions): Promise<DemoData> {
  const scopes = ["read:status" as const, "write:components" as const];
  const { dataDir, keys } = await seed(workspace.path("data"), { keys: 1, scopes });
  const data = openData(dataDir);
  const history = await seedHistory(data.ctx, options);
  data.close();
  return { dataDir, history, key: keys[0] ?? "" };
}

async function openInstallation(workspace: Workspace, demoData: DemoData): Promise<Installation> {
  const { dataDir, history, key } = demoData;
  const env = { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" };
  const server = await startAllclear(workspace, dataDir, { env });
  const connection = await openConnection(server.url);
  const credential = { Authorization: `Bearer ${key}` };
  const requests = Object.entries(pathsOf(history)).map(([what, path]) => {
    const headers = { "Accept-Encoding": "gzip", ...(path.startsWith("/api/") && credential) };
    return [what, requestText(server.url, path, { headers })];
  });
  return {
    server,
    connection,
    requests: Object.fromEntries(requests),
    change: changesOf(connection, server.url, credential, history.componentIds),
    async close() {
      connection.close();
      await server.stop();
    },
  };
}

/** Returns the measured paths by the name of their figure. */
function pathsOf({ slug, incidentIds, componentIds }: History): Record<string, string> {
  const page = `/status/${slug}`;
  const list = `/api/v1/incidents?page=${slug}&limit=50`;
  const past = incidentIds[10] ?? "";
  return {
    "the public page": page,
    "its history of this month": `${page}/history`,
    "an incident's own page": `${page}/incidents/${past}`,
    "`GET /api/v1/incidents`": "/api/v1/incidents?limit=50",
    "the same of a page": list,
    "the same of what is over": `${list}&open=false`,
    "the same of a component": `${list}&component=${componentIds[0]}`,
    "`GET /api/v1/incidents/{id}`": `/api/v1/incidents/${past}`,
    "`GET /api/v1/maintenance`": `/api/v1/maintenance?page=${slug}&limit=50`,
    "`GET /api/v1/components`": `/api/v1/components?page=${slug}&limit=50`,
  };
}
