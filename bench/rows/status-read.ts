import type { ConstantAnswer } from "../programs/bare";
import { compileProgram } from "../support/compile";
import { type Figure, median, rounded } from "../support/figure";
import { seed } from "../support/seed";
import { type Server, startAllclear, startServer } from "../support/server";
import { runWrk, SERVER_CORE } from "../support/wrk";
import type { Workshop } from "../support/workshop";

const REACH = 0.8;
const ROUNDS = 9;
const WARM_UP_SECONDS = 2;
/** Short enough that no key's bucket of a million tokens is ever empty. */
const SECONDS = 3;
const CONNECTIONS = 32;

/** Reading the status document, against servers that do no work for the same bytes and headers. */
export async function measureStatusRead(workshop: Workshop): Promise<Figure[]> {
  const { dataDir, slug, keys } = await seed(workshop.path("data"), { keys: ROUNDS + 2 });
  const bare = compileProgram(workshop, "bare");
  const pinned = { core: SERVER_CORE };
  const allclear = await startAllclear(workshop, dataDir, pinned);
  const running = [allclear];
  try {
    const path = `/api/v1/status/${slug}`;
    const example = await readAnswer(allclear, path, keys.pop());
    const file = workshop.path("answer.json");
    await Bun.write(file, JSON.stringify(example));
    const plain = await startServer(workshop, [bare, file, "plain"], pinned);
    running.push(plain);
    const instance = await startServer(workshop, [bare, file, "instance"], pinned);
    running.push(instance);
    await requireSameAnswer(plain, path, example);
    await requireSameAnswer(instance, path, example);

    const load = async (server: Server, key: string, seconds: number) => {
      const headers = { Authorization: `Bearer ${key}` };
      const options = { connections: CONNECTIONS, seconds, headers };
      return (await runWrk(server.url + path, options)).perSecond;
    };
    const warmUpKey = keys.pop() as string;
    for (const server of running) await load(server, warmUpKey, WARM_UP_SECONDS);

    const rounds: { ours: number; plain: number; instance: number }[] = [];
    for (const [index, key] of keys.entries()) {
      const round = { ours: 0, plain: 0, instance: 0 };
      const turns: [keyof typeof round, Server][] = [
        ["ours", allclear],
        ["plain", plain],
        ["instance", instance],
      ];
      // The order turns around each time, so that a drift of the machine favours nobody.
      for (const [name, server] of index % 2 === 0 ? turns : turns.reverse()) {
        round[name] = await load(server, key, SECONDS);
      }
      rounds.push(round);
    }
    const ratio = median(rounds.map(({ ours, plain: theirs }) => ours / theirs));
    const ratioToInstance = median(rounds.map(({ ours, instance: theirs }) => ours / theirs));
    const [our, their, theirBest] = (["ours", "plain", "instance"] as const).map((name) =>
      rounded(median(rounds.map((round) => round[name]))),
    );
    const size = (Buffer.byteLength(example.body) / 1_000).toFixed(1);
    return [
      {
        what: `\`GET /api/v1/status/{slug}\`, 20 components (${size} kB), valid key, ${CONNECTIONS} connections, one core`,
        reach: `${REACH.toFixed(2)} of bare \`Bun.serve\``,
        measured: `${ratio.toFixed(2)} (${our}/s against ${their}/s)`,
        isReached: ratio >= REACH,
      },
      {
        what: "the same, where the bare server keeps its headers in one constant `Headers`",
        reach: "",
        measured: `${ratioToInstance.toFixed(2)} (against ${theirBest}/s)`,
      },
    ];
  } finally {
    for (const server of running) await server.stop();
  }
}

/** One answer of Allclear's, as a constant for others to send. */
async function readAnswer(
  server: Server,
  path: string,
  key: string | undefined,
): Promise<ConstantAnswer> {
  const headers = { Authorization: `Bearer ${key}`, "Accept-Encoding": "identity" };
  const response = await fetch(server.url + path, { headers });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  return { headers: ownHeaders(response), body: await response.text() };
}

async function requireSameAnswer(server: Server, path: string, example: ConstantAnswer) {
  const response = await fetch(server.url + path, { headers: { "Accept-Encoding": "identity" } });
  const answer: ConstantAnswer = { headers: ownHeaders(response), body: await response.text() };
  if (!Bun.deepEquals(answer, example)) throw new Error("the bare server sends something else");
}

/** The headers that a server gives its answer; the rest is the runtime's. */
function ownHeaders(response: Response): Record<string, string> {
  const { date: _date, "content-length": _length, ...own } = response.headers.toJSON();
  return own as Record<string, string>;
}
