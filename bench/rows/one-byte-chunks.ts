import type { ChunkFlood } from "../programs/one-byte-chunks";
import { compileProgram } from "../support/compile";
import { type Figure, megabytes } from "../support/figure";
import { readDuringFlood } from "../support/read-during-flood";
import { seed } from "../support/seed";
import type { Workspace } from "../support/workspace";

const CONNECTIONS = 95;
const BODY_BYTES = 250 * 1024;
const REACH_BYTES = 64e6;
const REACH_MS = 100;

/** Forms that anybody may send: one with a limit of its own, one with that of the address alone. */
const PATHS = ["/admin/sign-in", "/admin/sign-out"];

/** Bodies in chunks of one byte from one address: their memory, and how long other requests wait. */
export async function measureOneByteChunks(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug } = await seed(workspace.path("data"));
  const program = compileProgram(workspace, "one-byte-chunks");
  const figures: Figure[] = [];
  for (const path of PATHS) {
    figures.push(...(await floodOnce(workspace, { dataDir, slug, program, path })));
  }
  return figures;
}

async function floodOnce(
  workspace: Workspace,
  { program, path, ...site }: Record<"dataDir" | "slug" | "program" | "path", string>,
): Promise<Figure[]> {
  const { flood, reads, idleBytes, peakBytes } = await readDuringFlood<ChunkFlood>(
    workspace,
    site,
    (url) => [program, url, path, String(CONNECTIONS), String(BODY_BYTES)],
  );
  const growth = peakBytes - idleBytes;
  const slowest = Math.max(...reads.map(({ ms }) => ms));
  const answers = Object.entries(flood.answers).map(([status, count]) => `${count} × ${status}`);
  return [
    {
      what: `memory for ${CONNECTIONS} bodies of 250 KiB in one-byte chunks, sent at once by one address to \`${path}\``,
      target: `less than ${megabytes(REACH_BYTES)}`,
      measured: `${megabytes(growth)} (${answers.join(", ")}; ${megabytes(flood.sent)} sent)`,
      isReached: growth < REACH_BYTES,
      numbers: { MB: growth / 1e6 },
    },
    {
      what: "the longest that a reader of the public page waits meanwhile",
      target: `${REACH_MS} ms`,
      measured: `${slowest.toFixed(0)} ms`,
      isReached: slowest <= REACH_MS,
      numbers: { "slowest in ms": slowest },
    },
  ];
}
