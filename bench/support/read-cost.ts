import { type Figure, median } from "./figure";
import { processMs } from "./processor-time";
import { type Server, type ServerOptions, startAllclear } from "./server";
import { runWrk, SERVER_CORE } from "./wrk";
import type { Workspace } from "./workspace";

const WARM_UP_SECONDS = 2;
const SECONDS = 2;
/** So few that the bucket of a million tokens lasts, also if all rounds use the same one. */
const ROUNDS = 3;

export const CONNECTIONS = 32;

export interface Read {
  dataDir: string;
  path: string;
  /** Headers of the requests of each round; the first round is a warm-up. */
  rounds: readonly Record<string, string>[];
  server?: Pick<ServerOptions, "env">;
}

/** Measures a read without bare servers: its rate, and the processor time that each request costs. */
export async function measureReads(workspace: Workspace, read: Read): Promise<Figure> {
  const [warmUp, ...rounds] = read.rounds;
  const options = { ...read.server, core: SERVER_CORE };
  const server = await startAllclear(workspace, read.dataDir, options);
  try {
    const load = (headers: Record<string, string>, seconds: number) =>
      runWrk(server.url + read.path, { connections: CONNECTIONS, seconds, headers });
    await load(warmUp ?? {}, WARM_UP_SECONDS);
    const rates: number[] = [];
    let requests = 0;
    const before = processMs(server.pid);
    for (const headers of rounds.slice(0, ROUNDS)) {
      const result = await load(headers, SECONDS);
      rates.push(result.perSecond);
      requests += result.requests;
    }
    const spentMs = processMs(server.pid) - before;
    const rate = median(rates);
    const cost = (spentMs * 1_000) / requests;
    return {
      what: `\`GET ${read.path}\``,
      target: "",
      measured: `${rate.toFixed(0)} requests per second`,
      numbers: { "requests per second": rate, "µs of processor time per request": cost },
    };
  } finally {
    await server.stop();
  }
}

/** Loads a running server with one read. Returns the processor time of a request in µs. */
export async function costOfReads(
  { url, pid }: Server,
  path: string,
  options: { seconds: number; headers?: Record<string, string> },
): Promise<number> {
  const before = processMs(pid);
  const { requests } = await runWrk(url + path, { connections: CONNECTIONS, ...options });
  return ((processMs(pid) - before) * 1_000) / requests;
}
