import { startSession } from "../../src/features/auth";
import { createUser } from "../../src/features/users";
import { sessionCookie } from "../../src/http";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { type Connection, openConnection, requestText } from "../support/connection";
import { type Figure, median, percentile } from "../support/figure";
import { openData } from "../support/open-data";
import { costOf, type RequestCost } from "../support/request-cost";
import { seed } from "../support/seed";
import { seedResults } from "../support/seed-results";
import { type Server, startAllclear } from "../support/server";
import { seedMonitors } from "../support/watching";
import type { Workshop } from "../support/workshop";

const TURNS = 3;
/** Of each turn. */
const ROUNDS = 70;
const REHEARSALS = 100;
const REACH_MS = 10;
/** Of a hundredth of the results; what is above it grows with them. */
const REACH_RATIO = 1.25;
/** As many as the page has components. The others belong to nobody who is asked for. */
const SHOWN = 20;
const DAYS = 100;
const MANY = { monitors: 3_500, each: 2_880 };
const FEW = { monitors: 100, each: 1_000 };
const DAY_MS = 86_400_000;
const STATUSES = ["major_outage", "operational"] as const;

/** An installation whose monitors have results, served. */
interface House {
  results: number;
  server: Server;
  connection: Connection;
  /** By what a figure calls it, each as it is sent. */
  requests: Record<string, string>;
  /** Changes another component of the page at each call, through the API. */
  change(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What is read of monitors with very many results: over a socket, one request at a time, in turns with
 * an installation of few. The page is read just after it has changed.
 */
export async function measureManyResults(workshop: Workshop): Promise<Figure[]> {
  const few = await openHouse(workshop, FEW);
  const many = await openHouse(workshop, MANY);
  try {
    const figures: Figure[] = [];
    for (const what of Object.keys(many.requests)) {
      const costs = { few: nothing(), many: nothing() };
      for (let turn = 0; turn < TURNS; turn++) {
        await ask(few, what, turn, costs.few);
        await ask(many, what, turn, costs.many);
      }
      const server = percentile(costs.many.server, 99);
      const client = percentile(costs.many.client, 99);
      const ratio = median(costs.many.server) / median(costs.few.server);
      figures.push({
        what: `${what}, ${(many.results / 1e6).toFixed(1)} million results of ${MANY.monitors.toLocaleString("en-US")} monitors, the server's time on its processor, p99`,
        reach: `${REACH_MS} ms, and flat`,
        measured: `${server.toFixed(1)} ms (a client on this machine waits ${client.toFixed(1)} ms; the median is ${ratio.toFixed(2)} of that with ${(few.results / 1e6).toFixed(1)} million)`,
        isReached: server <= REACH_MS && ratio <= REACH_RATIO,
      });
    }
    return figures;
  } finally {
    await few.close();
    await many.close();
  }
}

function nothing(): RequestCost {
  return { server: [], client: [] };
}

async function ask(house: House, what: string, turn: number, known: RequestCost): Promise<void> {
  const { server, connection, requests, change } = house;
  const cost = await costOf({
    server,
    connection,
    request: requests[what] ?? "",
    rounds: ROUNDS,
    rehearsals: turn === 0 ? REHEARSALS : 0,
    ...(what.startsWith("the public page") && { before: change }),
    check({ status, body }) {
      if (status !== 200) throw new Error(`${what} was answered ${status}: ${body}`);
    },
  });
  known.server.push(...cost.server);
  known.client.push(...cost.client);
}

async function openHouse(
  workshop: Workshop,
  { monitors, each }: { monitors: number; each: number },
): Promise<House> {
  const scopes = ["write:components", "manage:monitors", "read:analytics"] as const;
  const { dataDir, slug, componentIds, keys } = await seed(workshop.path("data"), {
    keys: 1,
    scopes: [...scopes],
  });
  const nobody = { intervalSeconds: 60, url: "http://127.0.0.1:9", paused: true };
  const shown = await seedMonitors(dataDir, { ...nobody, count: SHOWN, componentIds });
  await seedMonitors(dataDir, { ...nobody, count: monitors - SHOWN });
  const results = seedResults(dataDir, { each, shown: SHOWN, days: DAYS });
  const session = await signIn(dataDir);
  const server = await startAllclear(workshop, dataDir, {
    env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
  });
  const connection = await openConnection(server.url);
  const credential = { Authorization: `Bearer ${keys[0]}` };
  const cookie = { Cookie: sessionCookie({ baseUrl: server.url }, session).split(";", 1)[0] ?? "" };
  const requests = Object.entries(pathsOf(slug, shown[0] ?? "")).map(([what, path]) => {
    const isApi = path.startsWith("/api/");
    const headers = { "Accept-Encoding": "gzip", ...(isApi ? credential : cookie) };
    return [what, requestText(server.url, path, { headers })];
  });
  let changes = 0;
  return {
    results,
    server,
    connection,
    requests: Object.fromEntries(requests),
    async change() {
      const id = componentIds[changes % componentIds.length] ?? "";
      const status = STATUSES[Math.floor(changes / componentIds.length) % STATUSES.length];
      changes += 1;
      const path = `/api/v1/components/${id}`;
      const options = { headers: credential, patch: { status } };
      const answer = await connection.send(requestText(server.url, path, options));
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    },
    async close() {
      connection.close();
      await server.stop();
    },
  };
}

async function signIn(dataDir: string): Promise<string> {
  const { ctx, close } = openData(dataDir);
  try {
    return await ctx.db.write((tx) => {
      const input = { email: "ada@acme.example", name: "Ada", role: "owner" } as const;
      const user = createUser(ctx, tx, input, CLI_ACTOR);
      return startSession(ctx, tx, user.id, { ip: "203.0.113.1", userAgent: "bench" });
    });
  } finally {
    close();
  }
}

/** What is asked for, by what a figure calls it. */
function pathsOf(slug: string, monitor: string): Record<string, string> {
  const analytics = "/api/v1/analytics";
  const weekAgo = new Date(Date.now() - 7 * DAY_MS).toISOString();
  return {
    "the public page just after a change": `/status/${slug}`,
    "uptime of a page by the day": `${analytics}/uptime?page=${slug}&interval=day`,
    "uptime of a monitor by the day": `${analytics}/uptime?monitor=${monitor}&interval=day`,
    "latency of a page in a month": `${analytics}/latency?page=${slug}`,
    "latency of a monitor by the hour": `${analytics}/latency?monitor=${monitor}&interval=hour&from=${weekAgo}`,
    "the list of monitors": "/api/v1/monitors?limit=50",
    "the same of a page": `/api/v1/monitors?page=${slug}&limit=50`,
    "a monitor": `/api/v1/monitors/${monitor}`,
    "its results": `/api/v1/monitors/${monitor}/checks?limit=50`,
    "the dashboard's list of monitors": "/admin/monitors",
    "the dashboard's page of a monitor": `/admin/monitors/${monitor}`,
    "the dashboard's uptime": `/admin/analytics?page=${slug}`,
  };
}
