import type { ChunkFlood } from "../programs/one-byte-chunks";
import { compileProgram } from "../support/compile";
import { openConnection, requestText } from "../support/connection";
import { type Figure, megabytes } from "../support/figure";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workshop } from "../support/workshop";

const CONNECTIONS = 95;
const BODY_BYTES = 250 * 1024;
const REACH_BYTES = 64e6;
const REACH_MS = 100;
const PACE_MS = 5;
const WARM_UP_READS = 400;

/** Forms that anybody may send: one with a limit of its own, one with that of the address alone. */
const PATHS = ["/admin/sign-in", "/admin/sign-out"];

/** Bodies in chunks of one byte from one address: their memory, and how long other requests wait. */
export async function measureOneByteChunks(workshop: Workshop): Promise<Figure[]> {
  const { dataDir, slug } = await seed(workshop.path("data"));
  const program = compileProgram(workshop, "one-byte-chunks");
  const figures: Figure[] = [];
  for (const path of PATHS) {
    figures.push(...(await floodOnce(workshop, { dataDir, slug, program, path })));
  }
  return figures;
}

async function floodOnce(
  workshop: Workshop,
  { dataDir, slug, program, path }: Record<"dataDir" | "slug" | "program" | "path", string>,
): Promise<Figure[]> {
  const server = await startAllclear(workshop, dataDir, {
    env: { ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  const reader = await openConnection(server.url);
  try {
    let reads = 0;
    const read = async () => {
      reads += 1;
      // Each address may read a hundred times a minute.
      const headers = { "X-Forwarded-For": `192.0.2.${reads % 200}`, "Accept-Encoding": "gzip" };
      const page = requestText(server.url, `/status/${slug}`, { headers });
      const { status } = await reader.send(page);
      if (status !== 200) throw new Error(`the public page answered ${status}`);
    };
    await reader.send(requestText(server.url, "/admin/sign-in"));
    for (let count = 0; count < WARM_UP_READS; count++) await read();
    const idle = residentBytes(server.pid);
    forgetPeak(server.pid);

    const child = Bun.spawn([program, server.url, path, String(CONNECTIONS), String(BODY_BYTES)], {
      stdout: "pipe",
      stderr: "inherit",
    });
    let isOver = false;
    void child.exited.then(() => (isOver = true));
    let slowest = 0;
    while (!isOver) {
      const since = performance.now();
      await read();
      slowest = Math.max(slowest, performance.now() - since);
      await Bun.sleep(PACE_MS);
    }
    const flood = JSON.parse(await new Response(child.stdout).text()) as ChunkFlood;
    const growth = peakResidentBytes(server.pid) - idle;
    const answers = Object.entries(flood.answers).map(([status, count]) => `${count} × ${status}`);
    return [
      {
        what: `memory for ${CONNECTIONS} bodies of 250 KiB in one-byte chunks, sent at once by one address to \`${path}\``,
        reach: `less than ${megabytes(REACH_BYTES)}`,
        measured: `${megabytes(growth)} (${answers.join(", ")}; ${megabytes(flood.sent)} sent)`,
        isReached: growth < REACH_BYTES,
      },
      {
        what: "the longest that a reader of the public page waits meanwhile",
        reach: `${REACH_MS} ms`,
        measured: `${slowest.toFixed(0)} ms`,
        isReached: slowest <= REACH_MS,
      },
    ];
  } finally {
    reader.close();
    await server.stop();
  }
}
