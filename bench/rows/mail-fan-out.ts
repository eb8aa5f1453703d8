import { CLI_ACTOR } from "../../src/base/actor";
import { openConnection, requestText } from "../support/connection";
import { type Figure, median } from "../support/figure";
import { createMailSite, type MailSite, openMailData } from "../support/mail-site";
import { mainThreadMs } from "../support/processor-time";
import type { Server } from "../support/server";
import type { Workspace } from "../support/workspace";
import { createIncident, createPage } from "../../test/support/examined";

const SUBSCRIBERS = 100_000;
const WORK_REACH_MS = 1_000;
const SLICE_REACH_MS = 20;
const PAUSE_MS = 1;
const WARM_UP = 20;
const COMMITS = 200;
const TOLERANCE = 0.05;
/** Least difference that counts: one row with its entries in five indexes. */
const TOLERANCE_MS = 0.2;

/**
 * Measures the processor time of writing the mails of one mailing, and the time of the change that causes it.
 * Without the relay, nothing is sent meanwhile.
 */
export async function measureMailFanOut(workspace: Workspace): Promise<Figure[]> {
  const site = await createMailSite(workspace, SUBSCRIBERS);
  try {
    const server = await site.start({ hasRelay: false });
    let workMs = 0;
    let sliceMs = 0;
    try {
      // Loads the code that the first mailing needs.
      await site.open(server);
      await site.untilWritten();
      const before = mainThreadMs(server.pid);
      await site.open(server);
      await site.untilWritten();
      workMs = mainThreadMs(server.pid) - before;
      sliceMs = await longestSlice(site, server);
    } finally {
      await server.stop();
    }
    const all = SUBSCRIBERS.toLocaleString("en-US");
    const figures: Figure[] = [
      {
        what: `processor time of writing the mails of ${all} subscribers, of whom half chose components`,
        target: `${WORK_REACH_MS.toLocaleString("en-US")} ms, at most ${SLICE_REACH_MS} ms between two answers to others`,
        measured: `${workMs.toFixed(0)} ms, at most ${sliceMs.toFixed(0)} ms`,
        isReached: workMs <= WORK_REACH_MS && sliceMs <= SLICE_REACH_MS,
        numbers: { "processor time in ms": workMs, "longest slice in ms": sliceMs },
      },
    ];
    // The commits are measured in this process.
    return workspace.isCompared ? figures : [...figures, await measureCommits(site)];
  } finally {
    await site.stop();
  }
}

/** Returns the most processor time of the server's thread between two answers while mails are written, in ms. */
async function longestSlice(site: MailSite, server: Server): Promise<number> {
  const connection = await openConnection(server.url);
  const request = requestText(server.url, "/healthz");
  let isOver = false;
  let longest = 0;
  const asking = (async () => {
    while (!isOver) {
      const before = mainThreadMs(server.pid);
      await connection.send(request);
      longest = Math.max(longest, mainThreadMs(server.pid) - before);
      await Bun.sleep(PAUSE_MS);
    }
  })();
  try {
    await site.open(server);
    await site.untilWritten();
  } finally {
    isOver = true;
    await asking;
    connection.close();
  }
  return longest;
}

/** Compares the commits of incidents on pages with and without subscribers, in turns. */
async function measureCommits({ page }: MailSite): Promise<Figure> {
  const { ctx, close } = openMailData(page.dataDir);
  try {
    const other = { slug: "other", name: "Without subscribers" };
    await ctx.db.write((tx) => createPage(ctx, tx, other, CLI_ACTOR));
    const commit = async (slug: string) => {
      const before = performance.now();
      const input = { page: slug, name: "Checkout is slow", body: "We look into it." };
      await ctx.db.write((tx) => createIncident(ctx, tx, input, "api", CLI_ACTOR));
      return performance.now() - before;
    };
    const times: { mailed: number; silent: number }[] = [];
    for (let round = 0; round < WARM_UP + COMMITS; round++) {
      const silent = await commit(other.slug);
      times.push({ mailed: await commit(page.slug), silent });
    }
    const measured = times.slice(WARM_UP);
    const mailed = median(measured.map((time) => time.mailed));
    const silent = median(measured.map((time) => time.silent));
    return {
      what: "commit of an incident on a page with these subscribers",
      target: `as without subscribers, ${TOLERANCE * 100} % or ${TOLERANCE_MS} ms more at most`,
      measured: `${mailed.toFixed(2)} ms (without ${silent.toFixed(2)} ms)`,
      isReached: mailed - silent <= Math.max(silent * TOLERANCE, TOLERANCE_MS),
      numbers: { "ms with subscribers": mailed, "ms without": silent },
    };
  } finally {
    close();
  }
}
