import type { ConstantAnswer } from "../programs/bare";
import { compileProgram } from "./compile";
import { type Figure, median, rounded } from "./figure";
import { CONNECTIONS, measureReads, type Read } from "./read-cost";
import { type Server, startAllclear, startServer } from "./server";
import { runWrk, SERVER_CORE } from "./wrk";
import type { Workspace } from "./workspace";

const REACH = 0.8;
const WARM_UP_SECONDS = 2;
const SECONDS = 3;
/** More than any server answers in a round: what a bucket of a million must hold before it begins. */
const ENOUGH_TOKENS = 600_000;

/**
 * Measures a read of Allclear and of two servers that send the same bytes and headers without any work, in turns,
 * each on the same one core. The bare servers give the headers the usual way, as an object, and in one constant
 * `Headers`. A comparison of two executables measures only Allclear. `what` names the figure, with the size of the
 * body as it is sent.
 */
export async function measureBesideBare(
  workspace: Workspace,
  read: Read,
  what: (size: string) => string,
): Promise<Figure[]> {
  if (workspace.isCompared) return [await measureReads(workspace, read)];
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
    const perSecond = (of: keyof (typeof taken)[number]) => rounded(middle((round) => round[of]));
    const ratio = middle((round) => round.ours / round.plain);
    const toInstance = middle((round) => round.ours / round.instance);
    const size = `${(Uint8Array.fromBase64(example.body).byteLength / 1_000).toFixed(1)} kB`;
    return [
      {
        what: what(size),
        target: `${REACH.toFixed(2)} of bare \`Bun.serve\``,
        measured: `${ratio.toFixed(2)} (${perSecond("ours")}/s against ${perSecond("plain")}/s)`,
        isReached: ratio >= REACH,
      },
      {
        what: "the same, where the bare server keeps its headers in one constant `Headers`",
        target: "",
        measured: `${toInstance.toFixed(2)} (against ${perSecond("instance")}/s)`,
      },
    ];
  } finally {
    for (const server of running) await server.stop();
  }
}

async function untilRefilled(url: string, headers: Record<string, string>): Promise<void> {
  const { headers: sent } = await fetch(url, { headers });
  const [, left, seconds] = /r=(\d+);t=(\d+)/.exec(sent.get("ratelimit") ?? "") ?? [];
  if (Number(left) < ENOUGH_TOKENS) await Bun.sleep(Number(seconds) * 1_000);
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
