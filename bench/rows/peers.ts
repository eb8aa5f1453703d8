import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Figure, median, megabytes } from "../support/figure";
import { privateBytes, residentBytes } from "../support/memory";
import { processMs } from "../support/processor-time";
import { untilAnswered } from "../support/ready";
import { costOfReads } from "../support/read-cost";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import { seedMonitors, startTarget } from "../support/watching";
import { SERVER_CORE } from "../support/wrk";
import type { Workspace } from "../support/workspace";

/** Put there by whoever runs this row. */
const GATUS = join(import.meta.dir, "../../dist/peers/gatus");

const STARTS = 15;
const SETTLE_MS = 3_000;
const READ_SECONDS = 2;
const READ_ROUNDS = 5;
/** Components of the seeded page, and endpoints of Gatus. */
const ENDPOINTS = 20;
/** Checks at 200 per second: monitors of Allclear at its least interval, endpoints of Gatus. */
const MONITORS = 1_000;
const MONITOR_SECONDS = 5;
const CHECKED_ENDPOINTS = 40;
const CHECK_WARM_UP_MS = 30_000;
const CHECK_MS = 15_000;

/** Measures Allclear beside Gatus. Returns no figures where Gatus is missing. */
export async function measurePeers(workspace: Workspace): Promise<Figure[]> {
  if (!existsSync(GATUS)) {
    console.error(`peers are left out: ${GATUS} is missing, see bench/peers.md`);
    return [];
  }
  return [
    await compareStarts(workspace),
    ...(await compareReads(workspace)),
    await compareChecks(workspace),
  ];
}

function figureOf(what: string, allclear: string, gatus: string): Figure {
  return { what, target: "", measured: `${allclear} · Gatus: ${gatus}` };
}

async function compareStarts(workspace: Workspace): Promise<Figure> {
  const { dataDir } = await seed(workspace.path("data"));
  const first = await startAllclear(workspace, dataDir);
  const port = Number(new URL(first.url).port);
  await first.stop();
  const peer = await configureGatus(workspace, "http://127.0.0.1:1", ENDPOINTS, "60s");
  const { allclear } = workspace;
  const ours = [allclear, "serve", "--data-dir", dataDir, "--listen", `127.0.0.1:${port}`];
  const times = { allclear: [] as number[], gatus: [] as number[] };
  // The first start of Gatus creates its database.
  await startOnce([GATUS], peer.env, peer.port, "/health");
  for (let run = 0; run < STARTS; run++) {
    times.allclear.push(await startOnce(ours, {}, port, "/readyz"));
    times.gatus.push(await startOnce([GATUS], peer.env, peer.port, "/health"));
  }
  const text = (found: number[]) =>
    `${median([...found]).toFixed(1)} ms (least ${Math.min(...found).toFixed(1)})`;
  return figureOf("from exec to ready", text(times.allclear), text(times.gatus));
}

async function startOnce(
  command: string[],
  env: Record<string, string>,
  port: number,
  path: string,
): Promise<number> {
  const since = performance.now();
  const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  try {
    await untilAnswered(child, port, path);
    return performance.now() - since;
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

async function compareReads(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug, keys } = await seed(workspace.path("data"), { keys: 1 + READ_ROUNDS });
  const allclear = await startAllclear(workspace, dataDir, { core: SERVER_CORE });
  const gatus = await startGatus(workspace, "http://127.0.0.1:1", ENDPOINTS, "60s", SERVER_CORE);
  try {
    await Bun.sleep(SETTLE_MS);
    const [ourMemory = "", theirMemory = ""] = [allclear, gatus].map(
      ({ pid }) => `${megabytes(residentBytes(pid))}, private ${megabytes(privateBytes(pid))}`,
    );
    const ours: number[] = [];
    const theirs: number[] = [];
    for (const key of keys) {
      const options = { headers: { Authorization: `Bearer ${key}` }, seconds: READ_SECONDS };
      ours.push(await costOfReads(allclear, `/api/v1/status/${slug}`, options));
      theirs.push(
        await costOfReads(gatus, "/api/v1/endpoints/statuses", { seconds: READ_SECONDS }),
      );
    }
    // The first round compiles the code.
    const text = (costs: number[]) => `${median(costs.slice(1)).toFixed(1)} µs`;
    return [
      figureOf("resident memory, idle, and private memory of it", ourMemory, theirMemory),
      figureOf(
        "processor time of a status read (Allclear: 11.2 kB, key and rate limit; Gatus: without either)",
        text(ours),
        text(theirs),
      ),
    ];
  } finally {
    await allclear.stop();
    await gatus.stop();
  }
}

async function compareChecks(workspace: Workspace): Promise<Figure> {
  const { dataDir } = await seed(workspace.path("data"));
  const ourTarget = await startTarget(workspace);
  const theirTarget = await startTarget(workspace);
  await seedMonitors(dataDir, {
    count: MONITORS,
    intervalSeconds: MONITOR_SECONDS,
    url: ourTarget.url,
  });
  const allclear = await startAllclear(workspace, dataDir);
  const gatus = await startGatus(workspace, theirTarget.url, CHECKED_ENDPOINTS, "200ms");
  try {
    await Bun.sleep(CHECK_WARM_UP_MS);
    const pairs = [
      { server: allclear, target: ourTarget },
      { server: gatus, target: theirTarget },
    ];
    const [ours = "", theirs = ""] = await Promise.all(
      pairs.map(async ({ server, target }) => {
        const before = { ms: processMs(server.pid), requests: (await target.seen()).requests };
        await Bun.sleep(CHECK_MS);
        const ms = processMs(server.pid) - before.ms;
        const checks = (await target.seen()).requests - before.requests;
        const rate = (checks * 1_000) / CHECK_MS;
        return `${((ms * 1_000) / checks).toFixed(0)} µs (${rate.toFixed(0)} per second)`;
      }),
    );
    return figureOf("processor time of an HTTP check, all included", ours, theirs);
  } finally {
    for (const started of [allclear, gatus, ourTarget, theirTarget]) await started.stop();
  }
}

/** Writes a configuration of Gatus with a database, and returns how to start it. */
async function configureGatus(
  workspace: Workspace,
  target: string,
  count: number,
  interval: string,
): Promise<{ env: Record<string, string>; port: number }> {
  const port = freePort();
  const endpoints = Array.from({ length: count }, (_, number) => ({
    name: `Service ${number}`,
    group: "shop",
    url: `${target}/service/${number}`,
    interval,
    conditions: ["[STATUS] == 200"],
  }));
  const config = {
    web: { address: "127.0.0.1", port },
    storage: { type: "sqlite", path: workspace.path("gatus.db") },
    concurrency: 0,
    endpoints,
  };
  const file = workspace.path("gatus.yaml");
  // JSON is YAML.
  await Bun.write(file, JSON.stringify(config));
  return { env: { GATUS_CONFIG_PATH: file, GATUS_LOG_LEVEL: "ERROR" }, port };
}

async function startGatus(
  workspace: Workspace,
  target: string,
  count: number,
  interval: string,
  core?: number,
): Promise<Server> {
  const { env, port } = await configureGatus(workspace, target, count, interval);
  const pinned = core === undefined ? [] : ["taskset", "-c", String(core)];
  const child = Bun.spawn([...pinned, GATUS], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  await untilAnswered(child, port, "/health");
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

function freePort(): number {
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data() {} },
  });
  const { port } = listener;
  listener.stop(true);
  return port;
}
