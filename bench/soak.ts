/**
 * Runs the compiled executable under a steady load and prints how its memory, descriptors, latencies and the lag of
 * its event loop change: `bun bench/soak.ts [MINUTES [EXECUTABLE]]`, by default 30 and that of `bun run build`. All
 * parts run on this machine: 500 monitors of a target, of which 20 fail now and then, three receivers of webhooks, and
 * 60 requests a second. Of these, one a second is of the dashboard, and one in two seconds changes a component.
 */
import { readdirSync, readFileSync } from "node:fs";
import { openConnection, requestText } from "./support/connection";
import { compileProgram } from "./support/compile";
import { markdownTable, median, percentile } from "./support/figure";
import { peakResidentBytes, privateBytes, residentBytes } from "./support/memory";
import { openData } from "./support/open-data";
import { readUntil } from "./support/paced-reads";
import { type Seed, seed } from "./support/seed";
import { type Server, startAllclear, startServer } from "./support/server";
import { readMetrics, seedMonitors, startTarget } from "./support/watching";
import { withWorkspace, type Workspace } from "./support/workspace";
import { startSession } from "../src/features/auth/sessions";
import { createUser } from "../src/features/users/users";
import { CLI_ACTOR } from "../src/base/actor";
import { sessionCookie } from "../src/http/cookies";
import { createWebhook } from "../test/support/examined";

const MINUTES = 30;
const MONITORS = 500;
/** Monitors that fail now and then, whose incidents are sent to the receivers. */
const FLAKY_MONITORS = 20;
const INTERVAL_SECONDS = 10;
const RECEIVERS = 3;
const REQUESTS_PER_SECOND = 60;
/** Addresses of readers, since each may send a hundred requests a minute. */
const READERS = 500;
/** A component changes so often, in requests. */
const CHANGE_EVERY = 120;
/** A screen of the dashboard is read so often, in requests. */
const SCREEN_EVERY = 60;
/** Time between two rows. */
const ROW_MS = 30_000;
/** Share of the rows at the beginning, in which caches fill, that slopes leave out. */
const WARM_UP = 1 / 3;
const HOUR_MS = 3_600_000;
const KB = 1_024;

/** Values of one moment, in the order of the columns. */
interface Sample {
  atMs: number;
  values: number[];
}

const COMPRESSED = { "Accept-Encoding": "gzip" };

const COLUMNS = [
  "private MB",
  "resident MB",
  "descriptors",
  "read p50 ms",
  "read p99 ms",
  "loop lag ms",
] as const;

const minutes = Number(process.argv[2] ?? MINUTES);
if (!(minutes > 0)) {
  console.error("bun bench/soak.ts [MINUTES [EXECUTABLE]]");
  process.exit(2);
}
await withWorkspace((workspace) => soak(workspace, minutes * 60_000), process.argv[3]);
process.exit(0);

async function soak(workspace: Workspace, durationMs: number): Promise<void> {
  const servers: Server[] = [];
  const started = async (starting: Promise<Server>) => {
    const server = await starting;
    servers.push(server);
    return server;
  };
  try {
    const scopes = ["read:status", "read:analytics", "write:components"] as const;
    const page = await seed(workspace.path("data"), { keys: 1, scopes: [...scopes] });
    const target = await started(startTarget(workspace));
    const receiver = compileProgram(workspace, "webhook-receiver");
    const receivers = await Promise.all(
      Array.from({ length: RECEIVERS }, () => started(startServer(workspace, [receiver, "0"]))),
    );
    await addWebhooks(page.dataDir, receivers);
    const { dataDir, componentIds } = page;
    const watched = { intervalSeconds: INTERVAL_SECONDS, componentIds };
    await seedMonitors(dataDir, { ...watched, count: MONITORS - FLAKY_MONITORS, url: target.url });
    const flaky = { ...watched, count: FLAKY_MONITORS, url: `${target.url}/flaky` };
    await seedMonitors(dataDir, flaky);
    const cookie = await signIn(dataDir);
    const server = await started(
      startAllclear(workspace, dataDir, {
        env: {
          ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8",
          ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32",
        },
      }),
    );
    const samples = await load(server, { ...page, cookie }, durationMs);
    printSlopes(samples, peakResidentBytes(server.pid));
    printParts(server.pid);
  } finally {
    for (const server of servers.reverse()) await server.stop();
  }
}

async function addWebhooks(dataDir: string, receivers: readonly Server[]): Promise<void> {
  const { ctx, close } = openData(dataDir, { settings: { outboundAllow: "127.0.0.0/8" } });
  try {
    await ctx.db.write((tx) => {
      for (const { url } of receivers) createWebhook(ctx, tx, { url: `${url}/hook/0` }, CLI_ACTOR);
    });
  } finally {
    close();
  }
}

/** Returns the cookie of a session of an owner, whose requests are those of the dashboard. */
async function signIn(dataDir: string): Promise<string> {
  const { ctx, close } = openData(dataDir);
  try {
    const input = { email: "ada@acme.example", name: "Ada", role: "owner" } as const;
    const device = { ip: "203.0.113.1", userAgent: "soak" };
    const session = await ctx.db.write((tx) =>
      startSession(ctx, tx, createUser(ctx, tx, input, CLI_ACTOR).id, device),
    );
    return sessionCookie({ baseUrl: "http://127.0.0.1" }, session).split(";", 1)[0] ?? "";
  } finally {
    close();
  }
}

/** Sends requests for some time, and prints a row of values now and then. */
async function load(
  server: Server,
  { slug, componentIds, keys: [key = ""], cookie }: Seed & { cookie: string },
  durationMs: number,
): Promise<Sample[]> {
  const connection = await openConnection(server.url);
  const credential = { Authorization: `Bearer ${key}` };
  const paths = [
    `/status/${slug}`,
    `/api/v1/status/${slug}`,
    "/api/v2/summary.json",
    `/status/${slug}/feed.atom`,
    `/status/${slug}/history`,
    `/status/${slug}`,
    `/api/v1/status/${slug}`,
    "/api/v2/incidents.json",
  ];
  const screens = ["/admin", "/admin/monitors", `/admin/analytics?page=${slug}`];
  let count = 0;
  const request = (): string => {
    count += 1;
    const headers = { "X-Forwarded-For": `198.18.${count % 2}.${(count % READERS) >> 1}` };
    if (count % CHANGE_EVERY === 0) {
      const id = componentIds[(count / CHANGE_EVERY) % componentIds.length] ?? "";
      const status = count % (2 * CHANGE_EVERY) === 0 ? "operational" : "degraded_performance";
      return requestText(server.url, `/api/v1/components/${id}`, {
        headers: { ...headers, ...credential },
        patch: { status },
      });
    }
    const isScreen = count % SCREEN_EVERY === 0;
    const list = isScreen ? screens : paths;
    const path = list[(isScreen ? count / SCREEN_EVERY : count) % list.length] ?? "";
    const own = path.startsWith("/admin") ? { Cookie: cookie } : credential;
    return requestText(server.url, path, {
      headers: { ...headers, ...(/^\/(admin|api\/v1)/.test(path) ? own : COMPRESSED) },
    });
  };
  const send = async () => {
    const { status } = await connection.send(request());
    if (status !== 200) throw new Error(`a request was answered with ${status}`);
  };
  const samples: Sample[] = [];
  console.log(["minute", ...COLUMNS].join(" | "));
  const startedAt = performance.now();
  while (performance.now() - startedAt < durationMs) {
    const reads = await readUntil(Bun.sleep(ROW_MS), 1_000 / REQUESTS_PER_SECOND, send);
    const waits = reads.map(({ ms }) => ms);
    const metrics = await readMetrics(server, key);
    const values = [
      privateBytes(server.pid) / 1e6,
      residentBytes(server.pid) / 1e6,
      readdirSync(`/proc/${server.pid}/fd`).length,
      median(waits),
      percentile(waits, 99),
      metrics("allclear_event_loop_lag_seconds") * 1_000,
    ];
    const atMs = performance.now() - startedAt;
    samples.push({ atMs, values });
    console.log([atMs / 60_000, ...values].map((value) => value.toFixed(1)).join(" | "));
  }
  connection.close();
  return samples;
}

function printSlopes(samples: readonly Sample[], peakBytes: number): void {
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const rows = COLUMNS.map((name, column) => {
    const points = steady.map(({ atMs, values }) => [atMs / HOUR_MS, values[column] ?? 0] as const);
    const values = points.map(([, value]) => value);
    return [name, median(values), Math.max(...values), slopeOf(points)].map((cell) =>
      typeof cell === "number" ? cell.toFixed(1) : cell,
    );
  });
  console.log(`\n${markdownTable(["value", "median", "most", "slope per hour"], rows)}`);
  console.log(`\nPeak of resident memory: ${(peakBytes / 1e6).toFixed(1)} MB`);
}

/** Returns the slope of the line through some points with the least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  const spread = mean(([x]) => (x - meanX) ** 2);
  return spread === 0 ? 0 : mean(([x, y]) => (x - meanX) * (y - meanY)) / spread;
}

/** Prints resident memory by the kind of its mapping. */
function printParts(pid: number): void {
  const parts = new Map<string, { resident: number; own: number }>();
  let part = { resident: 0, own: 0 };
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const mapping = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$/.exec(line);
    if (mapping) {
      const kind = kindOf(mapping[1] ?? "");
      part = parts.get(kind) ?? { resident: 0, own: 0 };
      parts.set(kind, part);
    }
    const size = /^(Rss|Anonymous): +(\d+) kB$/.exec(line);
    if (size?.[1] === "Rss") part.resident += Number(size[2]) * KB;
    else if (size) part.own += Number(size[2]) * KB;
  }
  const rows = [...parts]
    .sort(([, a], [, b]) => b.resident - a.resident)
    .map(([kind, { resident, own }]) => [
      kind,
      ...[resident, own].map((size) => (size / 1e6).toFixed(1)),
    ]);
  console.log(`\n${markdownTable(["mapping", "resident MB", "private MB"], rows)}`);
}

function kindOf(path: string): string {
  if (path === "") return "anonymous";
  if (path.startsWith("[")) return path;
  return path.split("/").at(-1)?.replace(/^\d+-/, "") ?? path;
}
