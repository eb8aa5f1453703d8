import { findPageBySlug } from "../../src/features/pages/store";
import { addSubscribers } from "../support/add-subscribers";
import { type Figure, median, rounded } from "../support/figure";
import { mailEnv } from "../support/mail-site";
import { openData } from "../support/open-data";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import { startOnce } from "../support/start-once";
import { runWrk, SERVER_CORE } from "../support/wrk";
import type { Workspace } from "../support/workspace";

const SUBSCRIBERS = 100_000;
const TOLERANCE = 0.05;
const ROUNDS = 9;
const SECONDS = 2;
const CONNECTIONS = 32;
const STARTS = 15;
const COUNT = SUBSCRIBERS.toLocaleString("en-US");

/** Data directory of a page whose mail is ready. */
interface Site {
  dataDir: string;
  slug: string;
  /** A key for each round, whose bucket is full. */
  keys: string[];
}

/**
 * Reads of the status document and of the public page, and starts, with many subscribers against none: in turns
 * on the same core.
 */
export async function measureBesideSubscribers(workspace: Workspace): Promise<Figure[]> {
  const full = await createSite(workspace, SUBSCRIBERS);
  const empty = await createSite(workspace, 0);
  return [
    ...(await measureReads(workspace, full, empty)),
    ...(await measureStarts(workspace, full, empty)),
  ];
}

/** Creates a page, half of whose subscribers chose two components. */
async function createSite(workspace: Workspace, subscribers: number): Promise<Site> {
  const seeded = await seed(workspace.path("data"), { keys: 1 + ROUNDS });
  const { dataDir, slug, componentIds } = seeded;
  const { ctx, close } = openData(dataDir);
  try {
    const pageId = findPageBySlug(ctx.db, { slug })?.id ?? "";
    const chosen = componentIds.slice(0, 2);
    await addSubscribers(ctx, { pageId, count: subscribers, componentIds: chosen });
  } finally {
    close();
  }
  return seeded;
}

/** Two measurements of the same kind directly after one another. */
interface Pair {
  full: number;
  empty: number;
}

/** Measures both in turns, each as often as the first one. The first pair is for warming up. */
async function takePairs(
  count: number,
  measure: (which: keyof Pair, round: number) => Promise<number>,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round <= count; round++) {
    const pair = { full: 0, empty: 0 };
    const order = round % 2 === 0 ? (["full", "empty"] as const) : (["empty", "full"] as const);
    for (const which of order) pair[which] = await measure(which, round);
    if (round > 0) pairs.push(pair);
  }
  return pairs;
}

const ratioOf = (pairs: readonly Pair[]) => median(pairs.map(({ full, empty }) => full / empty));
const middle = (pairs: readonly Pair[], which: keyof Pair) =>
  median(pairs.map((pair) => pair[which]));

async function measureReads(workspace: Workspace, full: Site, empty: Site): Promise<Figure[]> {
  const env = { ...mailEnv(), ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" };
  const options = { env, core: SERVER_CORE };
  const servers: Record<keyof Pair, Server> = {
    full: await startAllclear(workspace, full.dataDir, options),
    empty: await startAllclear(workspace, empty.dataDir, options),
  };
  const load = async (which: keyof Pair, path: string, headers: Record<string, string>) => {
    const { pid } = servers[which === "full" ? "empty" : "full"];
    process.kill(pid, "SIGSTOP");
    try {
      const wrk = { connections: CONNECTIONS, seconds: SECONDS, headers };
      return (await runWrk(servers[which].url + path, wrk)).perSecond;
    } finally {
      process.kill(pid, "SIGCONT");
    }
  };
  const figureOf = (what: string, pairs: readonly Pair[]): Figure => {
    const ratio = ratioOf(pairs);
    const [ours, usual] = [middle(pairs, "full"), middle(pairs, "empty")];
    return {
      what: `${what} of a page with ${COUNT} subscribers, ${CONNECTIONS} connections, one core`,
      target: `as without subscribers, ${TOLERANCE * 100} % less at most`,
      measured: `${ratio.toFixed(2)} (${rounded(ours)}/s against ${rounded(usual)}/s)`,
      isReached: ratio >= 1 - TOLERANCE,
      numbers: { ratio, "reads per second": ours },
    };
  };
  try {
    const { slug } = full;
    const documents = await takePairs(ROUNDS, (which, round) => {
      const key = (which === "full" ? full : empty).keys[round] ?? "";
      return load(which, `/api/v1/status/${slug}`, { Authorization: `Bearer ${key}` });
    });
    const pages = await takePairs(ROUNDS, (which) =>
      load(which, `/status/${slug}`, { "Accept-Encoding": "gzip" }),
    );
    return [
      figureOf("`GET /api/v1/status/{slug}`", documents),
      figureOf("the public page, compressed,", pages),
    ];
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}

async function measureStarts(workspace: Workspace, full: Site, empty: Site): Promise<Figure[]> {
  const env = mailEnv();
  const first = await startAllclear(workspace, empty.dataDir, { env });
  const port = Number(new URL(first.url).port);
  await first.stop();
  const measure = async (what: string, path: string): Promise<Figure> => {
    const pairs = await takePairs(STARTS, async (which) => {
      const { dataDir } = which === "full" ? full : empty;
      return (await startOnce(workspace, { dataDir, port, path, env })).ms;
    });
    const ratio = ratioOf(pairs);
    const [ours, usual] = [middle(pairs, "full"), middle(pairs, "empty")];
    return {
      what: `from exec to ${what} with these subscribers (median of ${STARTS})`,
      target: `as without subscribers, ${TOLERANCE * 100} % more at most`,
      measured: `${ratio.toFixed(2)} (${ours.toFixed(1)} ms against ${usual.toFixed(1)} ms)`,
      isReached: ratio <= 1 + TOLERANCE,
      numbers: { ratio, "median in ms": ours },
    };
  };
  return [
    await measure("`/readyz` 200", "/readyz"),
    await measure("the first status page", `/status/${full.slug}`),
  ];
}
