import { openConnection, requestText } from "../support/connection";
import type { Figure } from "../support/figure";
import { processMs } from "../support/processor-time";
import { seed } from "../support/seed";
import { type Server, startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const TABS = 1_000;
/** Tabs of one address, such as an office. */
const OFFICE_TABS = 15;
/** Time between two requests of a tab, and how far it differs, as in `src/public/live.js`. */
const ASK_MS = 12_000;
const JITTER = 0.15;
const LOW = 20;
const WARM_UP_MS = 12_000;
const MEASURED_MS = 36_000;
const OFFICE_MS = 60_000;
const REACH = 0.03;

/** Processor time of the server for the open tabs of a public page, and 429s of those behind one address. */
export async function measureOpenTabs(workspace: Workspace): Promise<Figure[]> {
  const { dataDir, slug } = await seed(workspace.path("data"));
  const page = `/status/${slug}`;
  const { share, asked } = await withServer(workspace, dataDir, "1000000", (server) =>
    measureTabs(server, page),
  );
  const cost: Figure = {
    what: `processor time of the server while ${TABS.toLocaleString("en-US")} open tabs of a public page ask for its version, each time on a new connection`,
    target: `${(100 * REACH).toFixed(0)} % of a core`,
    measured: `${(100 * share).toFixed(1)} % (${asked.toFixed(0)} requests a second)`,
    isReached: share <= REACH,
    numbers: { "% of a core": 100 * share },
  };
  if (workspace.isCompared) return [cost];
  const { refused, least } = await withServer(workspace, dataDir, "100", (server) =>
    openOffice(server, page),
  );
  return [
    cost,
    {
      what: `${OFFICE_TABS} such tabs behind one address for a minute, in which the page changes once, default limit`,
      target: "no 429",
      measured: `${refused} of them (at least ${least} requests left)`,
      isReached: refused === 0,
    },
  ];
}

async function withServer<Result>(
  workspace: Workspace,
  dataDir: string,
  limit: string,
  use: (server: Server) => Promise<Result>,
): Promise<Result> {
  const env = { ALLCLEAR_PUBLIC_RATE_LIMIT: limit };
  const server = await startAllclear(workspace, dataDir, { env });
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

/** Returns the share of a core, and requests per second, of tabs that ask evenly. */
async function measureTabs(server: Server, page: string) {
  const [tag] = await ask(server, `${page}/version`);
  const end = performance.now() + WARM_UP_MS + MEASURED_MS;
  let asked = 0;
  const tabs = Array.from({ length: TABS }, async (_, index) => {
    for (let due = (index / TABS) * ASK_MS; due < WARM_UP_MS + MEASURED_MS; due += jittered()) {
      await Bun.sleep(Math.max(0, end - WARM_UP_MS - MEASURED_MS + due - performance.now()));
      const [, status] = await ask(server, `${page}/version`, tag);
      if (status !== 304) throw new Error(`the version answered ${status}`);
      asked += 1;
    }
  });
  await Bun.sleep(WARM_UP_MS);
  const [from, before, askedBefore] = [performance.now(), processMs(server.pid), asked];
  await Bun.sleep(MEASURED_MS);
  const ms = performance.now() - from;
  const result = {
    share: (processMs(server.pid) - before) / ms,
    asked: (1_000 * (asked - askedBefore)) / ms,
  };
  await Promise.all(tabs);
  return result;
}

/** Opens tabs that load the page, ask for its version as the script does, and load the page once again. */
async function openOffice(server: Server, page: string) {
  let refused = 0;
  let least = Number.POSITIVE_INFINITY;
  const start = performance.now();
  const tabs = Array.from({ length: OFFICE_TABS }, async () => {
    let tag: string | undefined;
    let hasChanged = false;
    await load(page);
    for (let wait = jittered(); performance.now() + wait - start < OFFICE_MS;) {
      await Bun.sleep(wait);
      const { left, refillMs } = await load(`${page}/version`, tag);
      if (!hasChanged && performance.now() - start > OFFICE_MS / 2) {
        hasChanged = true;
        await load(page);
      }
      wait = left < LOW ? refillMs : jittered();
    }

    async function load(path: string, known?: string) {
      const [etag, status, bucket] = await ask(server, path, known);
      if (path !== page) tag = etag;
      if (status === 429) refused += 1;
      least = Math.min(least, bucket.left);
      return bucket;
    }
  });
  await Promise.all(tabs);
  return { refused, least };
}

function jittered(): number {
  return ASK_MS * (1 - JITTER + 2 * JITTER * Math.random());
}

/** Requests a path on a new connection. Returns the tag, the status and the state of the address's bucket. */
async function ask(
  { url }: Server,
  path: string,
  tag?: string,
): Promise<[tag: string | undefined, status: number, bucket: { left: number; refillMs: number }]> {
  const headers = { "Accept-Encoding": "gzip", ...(tag && { "If-None-Match": tag }) };
  const connection = await openConnection(url);
  try {
    const answer = await connection.send(requestText(url, path, { headers }));
    const state = /r=(\d+);t=(\d+)/.exec(answer.headers.get("ratelimit") ?? "");
    const bucket = { left: Number(state?.[1] ?? 0), refillMs: 1_000 * Number(state?.[2] ?? 0) };
    return [answer.headers.get("etag"), answer.status, bucket];
  } finally {
    connection.close();
  }
}
