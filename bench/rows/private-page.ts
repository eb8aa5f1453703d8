import { CLI_ACTOR } from "../../src/base/actor";
import { composed } from "../../src/base/validation";
import { createPageLink } from "../../src/features/pages/access";
import { findPageBySlug } from "../../src/features/pages/store";
import { updatePage } from "../../test/support/examined";
import { grantOf } from "../../test/support/page-access";
import { type Figure, median } from "../support/figure";
import { openData } from "../support/open-data";
import { CONNECTIONS, costOfReads, measureReads, type Read } from "../support/read-cost";
import { seed } from "../support/seed";
import { seedPast } from "../support/seed-past";
import { type Server, startAllclear } from "../support/server";
import { SERVER_CORE } from "../support/wrk";
import type { Workspace } from "../support/workspace";

const ROUNDS = 9;
const WARM_UP_SECONDS = 2;
const SECONDS = 2;
const REACH_US = 10;
// All requests come from one address, whose bucket each of them is charged to.
const SERVER = { env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" } };

/** Reading a private page by the grant of a link, and the same page while it is public, as browsers do. */
export async function measurePrivatePage(workspace: Workspace): Promise<Figure[]> {
  const open = await seedPage(workspace);
  const closed = await seedPage(workspace);
  const token = await closePage(closed.dataDir, closed.slug);
  const path = `/status/${open.slug}`;
  const cookie = await enter(workspace, closed.dataDir, `${path}/with/${token}`);
  const readOf = (dataDir: string, headers: Record<string, string>): Read => ({
    dataDir,
    path,
    rounds: Array.from({ length: 1 + ROUNDS }, () => ({ "Accept-Encoding": "gzip", ...headers })),
    server: SERVER,
  });
  const reads = [readOf(open.dataDir, {}), readOf(closed.dataDir, { Cookie: cookie })] as const;
  if (workspace.isCompared) return [await measureReads(workspace, reads[1])];
  const servers: Server[] = [];
  try {
    for (const { dataDir } of reads) {
      servers.push(await startAllclear(workspace, dataDir, { ...SERVER, core: SERVER_CORE }));
    }
    const [openServer, closedServer] = servers as [Server, Server];
    const costs = { open: [] as number[], closed: [] as number[] };
    for (let round = -1; round < ROUNDS; round++) {
      const seconds = round < 0 ? WARM_UP_SECONDS : SECONDS;
      const turns = [
        ["open", openServer, reads[0]],
        ["closed", closedServer, reads[1]],
      ] as const;
      // The order turns around each time, so that a drift of the machine favours nobody.
      for (const [name, server, { rounds }] of round % 2 === 0 ? turns : turns.toReversed()) {
        const [headers = {}] = rounds;
        const cost = await costOfReads(server, path, { headers, seconds });
        if (round >= 0) costs[name].push(cost);
      }
    }
    const more = median(costs.closed.map((cost, round) => cost - (costs.open[round] ?? 0)));
    return [
      {
        what: `a private page by a grant, 20 components with three months of history, processor time beyond that of the public page, ${CONNECTIONS} connections, one core`,
        target: `${REACH_US} µs per request`,
        measured: `${more.toFixed(1)} µs (${median(costs.closed).toFixed(1)} against ${median(costs.open).toFixed(1)} µs)`,
        isReached: more <= REACH_US,
      },
    ];
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function seedPage(workspace: Workspace) {
  const seeded = await seed(workspace.path("data"));
  await seedPast(seeded);
  return seeded;
}

/** Makes a page private and returns the token of a link to it. */
async function closePage(dataDir: string, slug: string): Promise<string> {
  const { ctx, close } = openData(dataDir);
  try {
    return await ctx.db.write((tx) => {
      const { id } = findPageBySlug(tx, { slug }) ?? { id: "" };
      updatePage(ctx, tx, id, { visibility: "private" }, CLI_ACTOR);
      return createPageLink(ctx, tx, id, composed({ name: "Bench" }), CLI_ACTOR).token;
    });
  } finally {
    close();
  }
}

/** Returns the cookie that a link gives. */
async function enter(workspace: Workspace, dataDir: string, path: string): Promise<string> {
  const server = await startAllclear(workspace, dataDir);
  try {
    return grantOf(await fetch(server.url + path, { redirect: "manual" }));
  } finally {
    await server.stop();
  }
}
