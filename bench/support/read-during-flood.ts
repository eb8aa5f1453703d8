import { openConnection, requestText } from "./connection";
import { forgetPeak, peakResidentBytes, residentBytes } from "./memory";
import { readUntil } from "./paced-reads";
import { mainThreadMs } from "./processor-time";
import type { Seed } from "./seed";
import { startAllclear } from "./server";
import type { Workspace } from "./workspace";

/** Milliseconds between two reads of the page. */
export const PACE_MS = 5;
const WARM_UP_READS = 1_000;
const SETTLE_MS = 2_000;
/** Readers come from this many addresses, since each may read a hundred times a minute. */
const READERS = 200;

export interface FloodOutcome<Flood> {
  /** The JSON that the program printed. */
  flood: Flood;
  /** Reads of the page while the program ran. */
  reads: { due: number; ms: number }[];
  /** Most processor time of the server's thread during one read, in ms, which other programs do not change. */
  mostWorkMs: number;
  idleBytes: number;
  peakBytes: number;
}

/**
 * Starts a server that trusts `X-Forwarded-For`, runs a program against it, and reads a public page
 * until the program ends. `command` returns the program and its arguments for a server's URL.
 */
export async function readDuringFlood<Flood>(
  workspace: Workspace,
  { dataDir, slug }: Pick<Seed, "dataDir" | "slug">,
  command: (url: string) => string[],
): Promise<FloodOutcome<Flood>> {
  const server = await startAllclear(workspace, dataDir, {
    env: { ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  const reader = await openConnection(server.url);
  try {
    let count = 0;
    const read = async () => {
      count += 1;
      const address = `192.0.2.${count % READERS}`;
      const headers = { "X-Forwarded-For": address, "Accept-Encoding": "gzip" };
      const { status } = await reader.send(requestText(server.url, `/status/${slug}`, { headers }));
      if (status !== 200) throw new Error(`the public page answered ${status}`);
    };
    // The dashboard is loaded with the first request for it, which is no part of what is measured.
    await reader.send(requestText(server.url, "/admin/sign-in"));
    for (let warmUp = 0; warmUp < WARM_UP_READS; warmUp++) await read();
    await Bun.sleep(SETTLE_MS);
    const idleBytes = residentBytes(server.pid);
    forgetPeak(server.pid);

    let mostWorkMs = 0;
    const readAndMeasure = async () => {
      const before = mainThreadMs(server.pid);
      await read();
      mostWorkMs = Math.max(mostWorkMs, mainThreadMs(server.pid) - before);
    };
    const child = Bun.spawn(command(server.url), { stdout: "pipe", stderr: "inherit" });
    const reads = await readUntil(child.exited, PACE_MS, readAndMeasure);
    const flood = JSON.parse(await new Response(child.stdout).text()) as Flood;
    return { flood, reads, mostWorkMs, idleBytes, peakBytes: peakResidentBytes(server.pid) };
  } finally {
    reader.close();
    await server.stop();
  }
}
