import type { ConstantAnswer } from "../programs/bare";
import { compileProgram } from "./compile";
import { median, rounded } from "./figure";
import { type Server, type ServerOptions, startAllclear, startServer } from "./server";
import { runWrk, SERVER_CORE } from "./wrk";
import type { Workspace } from "./workspace";

const WARM_UP_SECONDS = 2;
const SECONDS = 3;
/** More than any server answers in a round: what a bucket of a million must hold before it begins. */
const ENOUGH_TOKENS = 600_000;
const TOKENS_PER_MS = 1_000_000 / 60_000;
export const CONNECTIONS = 32;

export interface Read {
  dataDir: string;
  path: string;
  /** Headers of the requests of each round; the first round is a warm-up. */
  rounds: readonly Record<string, string>[];
  server?: Pick<ServerOptions, "env">;
}

/**
 * Comparison of a read of Allclear with servers that send the same bytes and headers without any
 * work.
 */
export interface BesideBare {
  /** Of what a bare server answers in the same time, its headers given the usual way: as an object. */
  ratio: number;
  /** The same, where it keeps them in one constant `Headers`. */
  ratioToInstance: number;
  /** Answers a second, in words. */
  ours: string;
  plain: string;
  instance: string;
  /** The size of the body as it is sent, in words. */
  size: string;
}

/** Loads Allclear and two bare servers in turns, each on the same one core. */
export async function readBesideBare(workspace: Workspace, read: Read): Promise<BesideBare> {
  const [warmUp = {}, ...rounds] = read.rounds;
  const bare = compileProgram(workspace, "bare");
  const pinned = { core: SERVER_CORE };
  const allclear = await startAllclear(workspace, read.dataDir, { ...read.server, ...pinned });
  const running = [allclear];
  try {
    const example = await readAnswer(allclear, read.path, warmUp);
    const file = workspace.path("answer.json");
    await Bun.write(file, JSON.stringify(example));
    const plain = await startServer(workspace, [bare, file, "plain"], pinned);
    running.push(plain);
    const instance = await startServer(workspace, [bare, file, "instance"], pinned);
    running.push(instance);
    for (const server of [plain, instance]) {
      const answer = await readAnswer(server, read.path, warmUp);
      if (!Bun.deepEquals(answer, example)) throw new Error("a bare server sends something else");
    }

    const load = async (server: Server, headers: Record<string, string>, seconds: number) => {
      const options = { connections: CONNECTIONS, seconds, headers };
      return (await runWrk(server.url + read.path, options)).perSecond;
    };
    for (const server of running) await load(server, warmUp, WARM_UP_SECONDS);

    const taken: { ours: number; plain: number; instance: number }[] = [];
    for (const [index, headers] of rounds.entries()) {
      const round = { ours: 0, plain: 0, instance: 0 };
      const turns: [keyof typeof round, Server][] = [
        ["ours", allclear],
        ["plain", plain],
        ["instance", instance],
      ];
      // The order turns around each time, so that a drift of the machine favours nobody.
      for (const [name, server] of index % 2 === 0 ? turns : turns.reverse()) {
        if (server === allclear) await untilRefilled(allclear.url + read.path, headers);
        round[name] = await load(server, headers, SECONDS);
      }
      taken.push(round);
    }
    const middle = (of: (round: (typeof taken)[number]) => number) => median(taken.map(of));
    return {
      ratio: middle((round) => round.ours / round.plain),
      ratioToInstance: middle((round) => round.ours / round.instance),
      ours: rounded(middle((round) => round.ours)),
      plain: rounded(middle((round) => round.plain)),
      instance: rounded(middle((round) => round.instance)),
      size: `${(Uint8Array.fromBase64(example.body).byteLength / 1_000).toFixed(1)} kB`,
    };
  } finally {
    for (const server of running) await server.stop();
  }
}

async function untilRefilled(url: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, { headers });
  const left = Number(answer.headers.get("x-ratelimit-remaining"));
  await Bun.sleep(Math.max(0, ENOUGH_TOKENS - left) / TOKENS_PER_MS);
}

/** One answer, as a constant for others to send: its own headers; the rest is the runtime's. */
async function readAnswer(
  server: Server,
  path: string,
  headers: Record<string, string>,
): Promise<ConstantAnswer> {
  const asked = { "Accept-Encoding": "identity", ...headers };
  const response = await fetch(server.url + path, { headers: asked, decompress: false });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  const { date: _date, "content-length": _length, ...own } = response.headers.toJSON();
  const body = (await response.bytes()).toBase64();
  return { headers: own as Record<string, string>, body };
}
