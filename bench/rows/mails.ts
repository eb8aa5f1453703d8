import { type Figure, median, memoryFigure, percentile, rounded } from "../support/figure";
import { openConnection, requestText } from "../support/connection";
import { createMailSite, type MailSite } from "../support/mail-site";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { readUntil } from "../support/paced-reads";
import { mainThreadMs } from "../support/processor-time";
import type { Server } from "../support/server";
import type { Workspace } from "../support/workspace";
import { runWrk } from "../support/wrk";

const MEASURED = 20_000;
const BACKLOG = 100_000;
const PER_SECOND_REACH = 1_500;
const EACH_REACH_MS = 0.3;
const GROWTH_REACH_BYTES = 64e6;
const READS_REACH = 0.8;
const READ_SECONDS = 3;
const ROUNDS = 5;
const SETTLE_MS = 2_000;
const PACE_MS = 5;
const PACED_MS = 5_000;
const LONGER_REACH_MS = 10;

/** Measures how fast the mails of a mailing go to a relay, and what readers notice of it. */
export async function measureMails(workspace: Workspace): Promise<Figure[]> {
  return [...(await measureThroughput(workspace)), ...(await measureBacklog(workspace))];
}

/** Creates a site with the mails of one mailing, which no server has sent yet. */
async function siteWithBacklog(workspace: Workspace, count: number): Promise<MailSite> {
  const site = await createMailSite(workspace, count);
  const server = await site.start({ hasRelay: false });
  await site.open(server);
  await site.untilWritten();
  await server.stop();
  return site;
}

async function measureThroughput(workspace: Workspace): Promise<Figure[]> {
  const site = await siteWithBacklog(workspace, MEASURED);
  const server = await site.start();
  try {
    const half = await site.untilTaken(MEASURED / 2);
    const busyBefore = mainThreadMs(server.pid);
    const all = await site.untilTaken(MEASURED);
    const count = all.count - half.count;
    const eachMs = (mainThreadMs(server.pid) - busyBefore) / count;
    const perSecond = (count * 1_000) / (all.last - half.last);
    return [
      {
        what: "mails of a mailing to a relay on the same machine over 8 connections, results recorded, the server on one core",
        target: `${PER_SECOND_REACH.toLocaleString("en-US")} a second, ${EACH_REACH_MS} ms of processor time each`,
        measured: `${rounded(perSecond)} a second, ${eachMs.toFixed(2)} ms each`,
        isReached: perSecond >= PER_SECOND_REACH && eachMs <= EACH_REACH_MS,
        numbers: { "mails per second": perSecond, "ms of processor time per mail": eachMs },
      },
    ];
  } finally {
    await server.stop();
    await site.stop();
  }
}

async function measureBacklog(workspace: Workspace): Promise<Figure[]> {
  const site = await siteWithBacklog(workspace, BACKLOG);
  const idle = await site.start({ hasRelay: false });
  const usual = await readsOf(site, idle);
  await idle.stop();

  const server = await site.start();
  try {
    let before = 0;
    const during = await readsOf(site, server, () => {
      before = residentBytes(server.pid);
      forgetPeak(server.pid);
    });
    const left = BACKLOG - (await site.taken()).count;
    if (left <= 0) throw new Error("the backlog was gone before the reads were");
    await site.untilTaken(BACKLOG);
    const growth = peakResidentBytes(server.pid) - before;
    const ratio = median(during.rates) / median(usual.rates);
    const longer = during.p99 - usual.p99;
    return [
      {
        what: `status reads while ${BACKLOG.toLocaleString("en-US")} mails are sent, one core for both`,
        target: `${READS_REACH} of the usual rate`,
        measured: `${ratio.toFixed(2)} (${rounded(median(during.rates))}/s against ${rounded(median(usual.rates))}/s)`,
        isReached: ratio >= READS_REACH,
        numbers: { ratio, "reads per second": median(during.rates) },
      },
      {
        what: `the same every ${PACE_MS} ms, p99 from the due time`,
        target: `${LONGER_REACH_MS} ms more than usual`,
        measured: `${during.p99.toFixed(1)} ms (without mails ${usual.p99.toFixed(1)} ms)`,
        isReached: longer <= LONGER_REACH_MS,
        numbers: { "p99 in ms": during.p99 },
      },
      memoryFigure("more resident memory while they are sent", growth, GROWTH_REACH_BYTES),
    ];
  } finally {
    await server.stop();
    await site.stop();
  }
}

interface Reads {
  /** Reads per second of 32 clients, by round. */
  rates: number[];
  /** Time of a read at a fixed pace, in ms. */
  p99: number;
}

/** Measures reads. `begin` is called after a warm-up. */
async function readsOf(
  { page, key }: MailSite,
  { url }: Server,
  begin: () => void = () => {},
): Promise<Reads> {
  const path = `/api/v1/status/${page.slug}`;
  const headers = { Authorization: `Bearer ${key}` };
  const load = async () =>
    (await runWrk(url + path, { connections: 32, seconds: READ_SECONDS, headers })).perSecond;
  await load();
  await Bun.sleep(SETTLE_MS);
  begin();
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rates.push(await load());
  const connection = await openConnection(url);
  try {
    const request = requestText(url, path, { headers });
    const times = await readUntil(Bun.sleep(PACED_MS), PACE_MS, async () => {
      const { status } = await connection.send(request);
      if (status !== 200) throw new Error(`a read was answered with ${status}`);
    });
    return {
      rates,
      p99: percentile(
        times.map(({ ms }) => ms),
        99,
      ),
    };
  } finally {
    connection.close();
  }
}
