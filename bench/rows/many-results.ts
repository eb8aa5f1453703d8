import { startSession } from "../../src/features/auth/sessions";
import { createUser } from "../../src/features/users/users";
import { sessionCookie } from "../../src/http/cookies";
import { CLI_ACTOR } from "../../src/base/actor";
import { changesOf } from "../support/component-changes";
import { type Connection, openConnection, requestText } from "../support/connection";
import { type Figure, median, percentile } from "../support/figure";
import { openData } from "../support/open-data";
import { costOf, type RequestCost } from "../support/request-cost";
import { seed } from "../support/seed";
import { seedResults } from "../support/seed-results";
import { type Server, startAllclear } from "../support/server";
import { seedMonitors } from "../support/watching";
import type { Workspace } from "../support/workspace";

const TURNS = 3;
/** Of each turn. */
const ROUNDS = 70;
const REHEARSALS = 100;
const REACH_MS = 10;
/** Of a twelfth of the results; what is above it grows with them. */
const REACH_RATIO = 1.25;
/** Number of monitors on the page, one for each component. The others are on no page that is read. */
const SHOWN = 20;
const DAYS = 100;
/** One for each page of the dashboard that is asked for. */
const SESSIONS = 3;
const MONITORS = 3_500;
/** Results of each, one a minute: those of two days, and as few as fill a page of the file of their own. */
const MANY = 2_880;
const FEW = 240;
const PAGE = "the public page just after a change";
const DAY_MS = 86_400_000;

/** An installation whose monitors have results, served. */
interface Installation {
  results: number;
  server: Server;
  connection: Connection;
  /** Requests as they are sent: by figure, and by what that calls each. */
  reads: Record<string, Record<string, string>>;
  /** Changes another component of the page at each call, through the API. */
  change(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Measures reads of monitors with very many results, alternating with an installation with few, one
 * request at a time. The page is read directly after a change.
 */
export async function measureManyResults(workspace: Workspace): Promise<Figure[]> {
  // What takes long to fill first: a connection that nobody uses is closed after a while.
  const many = await openInstallation(workspace, MANY);
  const few = await openInstallation(workspace, FEW);
  try {
    const figures: Figure[] = [];
    for (const [what, reads] of Object.entries(many.reads)) {
      const found: Found[] = [];
      for (const name of Object.keys(reads)) found.push(await compare(few, many, what, name));
      figures.push(figureOf(what, found, many.results, few.results));
    }
    return figures;
  } finally {
    await few.close();
    await many.close();
  }
}

/** Cost of one read: 99th percentiles and median in milliseconds, and the ratio of the medians. */
interface Found {
  name: string;
  server: number;
  client: number;
  /** Median processor time of the server. */
  middle: number;
  ratio: number;
}

async function compare(
  few: Installation,
  many: Installation,
  what: string,
  name: string,
): Promise<Found> {
  const costs: Record<"few" | "many", RequestCost> = {
    few: { server: [], client: [] },
    many: { server: [], client: [] },
  };
  for (let turn = 0; turn < TURNS; turn++) {
    await ask(few, { what, name, turn }, costs.few);
    await ask(many, { what, name, turn }, costs.many);
  }
  return {
    name,
    server: percentile(costs.many.server, 99),
    client: percentile(costs.many.client, 99),
    middle: median(costs.many.server),
    ratio: median(costs.many.server) / median(costs.few.server),
  };
}

async function ask(
  installation: Installation,
  { what, name, turn }: { what: string; name: string; turn: number },
  known: RequestCost,
): Promise<void> {
  const { server, connection, reads, change } = installation;
  const cost = await costOf({
    server,
    connection,
    request: reads[what]?.[name] ?? "",
    rounds: ROUNDS,
    rehearsals: turn === 0 ? REHEARSALS : 0,
    ...(what === PAGE && { before: change }),
    check({ status, body }) {
      if (status !== 200) throw new Error(`${name} was answered ${status}: ${body}`);
    },
  });
  known.server.push(...cost.server);
  known.client.push(...cost.client);
}

/** The slowest of some reads. */
function figureOf(what: string, found: readonly Found[], many: number, few: number): Figure {
  const [slowest] = found.toSorted((a, b) => b.server - a.server);
  if (!slowest) throw new Error("nothing was measured");
  const ratio = Math.max(...found.map((each) => each.ratio));
  const which = found.length === 1 ? "" : `${slowest.name}; `;
  return {
    what: `${what}, ${millions(many)} results of ${MONITORS.toLocaleString("en-US")} monitors stored, the server's time on its processor, p99`,
    target: `${REACH_MS} ms, and flat`,
    measured: `${slowest.server.toFixed(1)} ms (${which}a client on this machine waits ${slowest.client.toFixed(1)} ms; the median is at most ${ratio.toFixed(2)} of that with ${millions(few)})`,
    isReached: slowest.server <= REACH_MS && ratio <= REACH_RATIO,
    numbers: {
      "p99 of the slowest in ms": slowest.server,
      "sum of the medians in ms": found.reduce((sum, each) => sum + each.middle, 0),
    },
  };
}

function millions(count: number): string {
  return `${(count / 1e6).toFixed(1)} million`;
}

async function openInstallation(workspace: Workspace, each: number): Promise<Installation> {
  const scopes = ["write:components", "manage:monitors", "read:analytics"] as const;
  const { dataDir, slug, componentIds, keys } = await seed(workspace.path("data"), {
    keys: 1,
    scopes: [...scopes],
  });
  const nobody = { intervalSeconds: 60, url: "http://127.0.0.1:9", paused: true };
  const shown = await seedMonitors(dataDir, { ...nobody, count: SHOWN, componentIds });
  await seedMonitors(dataDir, { ...nobody, count: MONITORS - SHOWN });
  const results = seedResults(dataDir, { each, shown: SHOWN, days: DAYS });
  const paths = Object.entries(readsOf(slug, shown[0] ?? ""));
  const sessions = await signIn(dataDir, SESSIONS);
  const server = await startAllclear(workspace, dataDir, {
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
  });
  const connection = await openConnection(server.url);
  const credential = { Authorization: `Bearer ${keys[0]}` };
  const requestOf = (path: string) => {
    const session = path.startsWith("/admin/") ? (sessions.pop() ?? "") : "";
    const cookie = sessionCookie({ baseUrl: server.url }, session).split(";", 1)[0] ?? "";
    const headers = path.startsWith("/api/") ? credential : { Cookie: cookie };
    return requestText(server.url, path, { headers: { "Accept-Encoding": "gzip", ...headers } });
  };
  const reads = paths.map(([what, named]) => {
    const requests = Object.entries(named).map(([name, path]) => [name, requestOf(path)]);
    return [what, Object.fromEntries(requests)];
  });
  return {
    results,
    server,
    connection,
    reads: Object.fromEntries(reads),
    change: changesOf(connection, server.url, credential, componentIds),
    async close() {
      connection.close();
      await server.stop();
    },
  };
}

/** So many sessions, each with a bucket of its own. */
async function signIn(dataDir: string, count: number): Promise<string[]> {
  const { ctx, close } = openData(dataDir);
  try {
    return await ctx.db.write((tx) => {
      const input = { email: "ada@acme.example", name: "Ada", role: "owner" } as const;
      const user = createUser(ctx, tx, input, CLI_ACTOR);
      const device = { ip: "203.0.113.1", userAgent: "bench" };
      return Array.from({ length: count }, () => startSession(ctx, tx, user.id, device));
    });
  } finally {
    close();
  }
}

/** Returns the measured paths by figure and by name. */
function readsOf(slug: string, monitor: string): Record<string, Record<string, string>> {
  const analytics = "/api/v1/analytics";
  const weekAgo = new Date(Date.now() - 7 * DAY_MS).toISOString();
  return {
    [PAGE]: { "the page": `/status/${slug}` },
    "the slowest of three reads of uptime": {
      "of a page by the day": `${analytics}/uptime?page=${slug}&interval=day`,
      "of a monitor by the day": `${analytics}/uptime?monitor=${monitor}&interval=day`,
      "on the dashboard": `/admin/analytics?page=${slug}`,
    },
    "the slowest of two reads of latency": {
      "of a page in a month": `${analytics}/latency?page=${slug}`,
      "of a monitor by the hour": `${analytics}/latency?monitor=${monitor}&interval=hour&from=${weekAgo}`,
    },
    "the slowest of six lists and pages of monitors": {
      "the list": "/api/v1/monitors?limit=50",
      "that of a page": `/api/v1/monitors?page=${slug}&limit=50`,
      "a monitor": `/api/v1/monitors/${monitor}`,
      "its results": `/api/v1/monitors/${monitor}/checks?limit=50`,
      "the dashboard's list": "/admin/monitors",
      "the dashboard's page of a monitor": `/admin/monitors/${monitor}`,
    },
  };
}
