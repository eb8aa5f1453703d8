import { join } from "node:path";
import { changesOf } from "../support/component-changes";
import { openConnection, requestText } from "../support/connection";
import { type Figure, percentile } from "../support/figure";
import { type Seed, seed } from "../support/seed";
import { startAllclear } from "../support/server";
import { requireTool, type Workspace } from "../support/workspace";

const SECONDS = 10;
/** Time between two reads of the page. */
const PACE_MS = 5;
/** Monitors have their results written once a second. */
const CHANGE_EVERY_MS = 1_000;
const CLIENTS = 8;

interface Load {
  what: string;
  clients: number;
  everyMs: number;
}

const LOADS: readonly Load[] = [
  { what: "one change a second", clients: 1, everyMs: CHANGE_EVERY_MS },
  { what: `${CLIENTS} clients that change without a pause`, clients: CLIENTS, everyMs: 0 },
];

/**
 * Reads of the public page while changes wait for a disk whose fsync is slow. The server commits on the
 * thread that answers, so a read waits for the commit before it. Figures without a reach.
 */
export async function measureSlowDisk(workspace: Workspace): Promise<Figure[]> {
  requireTool("cc", "gcc libc6-dev");
  const library = compileLibrary(workspace);
  const scopes = ["read:status", "write:components"] as const;
  const seeded = await seed(workspace.path("data"), { keys: CLIENTS, scopes: [...scopes] });
  const figures: Figure[] = [];
  for (const fsyncMs of [0, 20, 300]) {
    for (const load of LOADS) {
      const env = { LD_PRELOAD: library, SLOW_FSYNC_MS: String(fsyncMs) };
      figures.push(await measureOne(workspace, seeded, env, load));
    }
  }
  return figures;
}

function compileLibrary(workspace: Workspace): string {
  const library = workspace.path("slow-fsync.so");
  const source = join(import.meta.dir, "../programs/slow-fsync.c");
  const { exitCode, stderr } = Bun.spawnSync([
    "cc",
    "-shared",
    "-fPIC",
    "-O2",
    "-o",
    library,
    source,
  ]);
  if (exitCode !== 0) throw new Error(`slow-fsync.c does not compile:\n${stderr.toString()}`);
  return library;
}

async function measureOne(
  workspace: Workspace,
  { dataDir, slug, keys, componentIds }: Seed,
  env: Record<string, string>,
  { what, clients, everyMs }: Load,
): Promise<Figure> {
  const limits = { ALLCLEAR_PUBLIC_RATE_LIMIT: "100000" };
  const server = await startAllclear(workspace, dataDir, { env: { ...env, ...limits } });
  let changes = 0;
  let isOver = false;
  const change = async (client: number) => {
    const connection = await openConnection(server.url);
    const headers = { Authorization: `Bearer ${keys[client]}` };
    const next = changesOf(connection, server.url, headers, componentIds);
    while (!isOver) {
      await next();
      changes += 1;
      await Bun.sleep(everyMs);
    }
    connection.close();
  };
  try {
    const reader = await openConnection(server.url);
    const page = requestText(server.url, `/status/${slug}`);
    await reader.send(page);
    const changing = Array.from({ length: clients }, (_, client) => change(client));
    const waits = await readPaced(async () => {
      const { status } = await reader.send(page);
      if (status !== 200) throw new Error(`the page answered ${status}`);
    });
    isOver = true;
    await Promise.all(changing);
    reader.close();
    const [p50, p99] = [percentile(waits, 50), percentile(waits, 99)];
    return {
      what: `the public page, fsync ${env["SLOW_FSYNC_MS"]} ms slower, ${what}`,
      target: "",
      measured: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, slowest ${Math.max(...waits).toFixed(0)} ms; ${(changes / SECONDS).toFixed(1)} changes a second`,
      numbers: { "p50 in ms": p50, "p99 in ms": p99, "changes per second": changes / SECONDS },
    };
  } finally {
    isOver = true;
    await server.stop();
  }
}

/**
 * Reads one after another, and adds to a long wait those of the reads that would have come during it: one
 * every few milliseconds, each with what was left of the wait.
 */
async function readPaced(read: () => Promise<void>): Promise<number[]> {
  const waits: number[] = [];
  const until = performance.now() + SECONDS * 1_000;
  while (performance.now() < until) {
    const from = performance.now();
    await read();
    for (let left = performance.now() - from; left > 0; left -= PACE_MS) waits.push(left);
    await Bun.sleep(PACE_MS);
  }
  return waits;
}
