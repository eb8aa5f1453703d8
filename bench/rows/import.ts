import { statSync } from "node:fs";
import { writeLargeKuma } from "../../test/support/large-kuma";
import { openConnection, requestText } from "../support/connection";
import { type Figure, megabytes, memoryFigure, percentile } from "../support/figure";
import { peakResidentBytes } from "../support/memory";
import { readUntil } from "../support/paced-reads";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const MONITORS = 500;
const BEATS = 10_000_000;
const REACH_MINUTES = 5;
const REACH_BYTES = 300e6;
const REACH_READ_MS = 50;
/** Time between two reads of the status document. */
const PACE_MS = 25;
const MEMORY_PACE_MS = 100;

/** An import of a large database of Uptime Kuma beside a running server: its time and memory, and reads meanwhile. */
export async function measureImport(workspace: Workspace): Promise<Figure[]> {
  const path = workspace.path("kuma.db");
  writeLargeKuma(path, { monitors: MONITORS, beats: BEATS, until: Date.now() - 60_000 });
  const { dataDir, keys, slug } = await seed(workspace.path("data"), { keys: 1 });
  const server = await startAllclear(workspace, dataDir);
  try {
    const importing = runImport(workspace, dataDir, path);
    const reads = await readStatus(server, [slug, "internal"], keys[0] ?? "", importing);
    const { seconds, peakBytes } = await importing;
    const what = `importing ${MONITORS} monitors with ${BEATS.toLocaleString("en-US")} beats (${megabytes(statSync(path).size)}) from Uptime Kuma beside a running server`;
    const p99 = percentile(reads, 99);
    return [
      {
        what,
        target: `${REACH_MINUTES} min`,
        measured: `${(seconds / 60).toFixed(1)} min`,
        isReached: seconds <= REACH_MINUTES * 60,
        numbers: { seconds },
      },
      memoryFigure("peak memory of that import", peakBytes, REACH_BYTES),
      {
        what: `p99 of \`GET /api/v1/status/{slug}\` meanwhile, of a page of 20 components and one of ${MONITORS}`,
        target: `${REACH_READ_MS} ms`,
        measured: `${p99.toFixed(1)} ms (median ${percentile(reads, 50).toFixed(1)} ms, ${reads.length} reads)`,
        isReached: p99 <= REACH_READ_MS,
        numbers: { "p99 in ms": p99 },
      },
    ];
  } finally {
    await server.stop();
  }
}

/** Runs the import. Monitors stay paused, since they have no target. */
async function runImport(workspace: Workspace, dataDir: string, path: string) {
  const startedAt = performance.now();
  const command = [workspace.allclear, "import", "uptime-kuma", path, "--yes", "--paused"];
  const child = Bun.spawn([...command, "--data-dir", dataDir], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  let peakBytes = 0;
  const timer = setInterval(() => {
    try {
      peakBytes = peakResidentBytes(child.pid);
    } catch {
      // It has just ended.
    }
  }, MEMORY_PACE_MS);
  const exitCode = await child.exited;
  clearInterval(timer);
  if (exitCode !== 0) throw new Error(`the import ended with ${exitCode}`);
  return { seconds: (performance.now() - startedAt) / 1_000, peakBytes };
}

/** Reads status documents in turns until `end` resolves. Returns the times in ms, from when each was due. */
async function readStatus(
  server: Server,
  slugs: readonly string[],
  key: string,
  end: Promise<unknown>,
): Promise<number[]> {
  const connection = await openConnection(server.url);
  const headers = { Authorization: `Bearer ${key}` };
  const requests = slugs.map((slug) =>
    requestText(server.url, `/api/v1/status/${slug}`, { headers }),
  );
  let count = 0;
  try {
    const reads = await readUntil(end, PACE_MS, async () => {
      await connection.send(requests[count++ % requests.length] ?? "");
    });
    for (const request of requests) {
      const { status } = await connection.send(request);
      if (status !== 200) throw new Error(`a status document was answered with ${status}`);
    }
    return reads.map(({ ms }) => ms);
  } finally {
    connection.close();
  }
}
