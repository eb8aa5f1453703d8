import { type Figure, median, memoryFigure, percentile, rounded } from "../support/figure";
import { forgetPeak, peakResidentBytes, residentBytes } from "../support/memory";
import { mainThreadMs } from "../support/processor-time";
import { createWebhookSite, type WebhookSite } from "../support/webhook-site";
import type { Workspace } from "../support/workspace";
import { runWrk } from "../support/wrk";

const QUEUED = 20_000;
const PER_SECOND_REACH = 1_000;
const CHANGES = 200;
const CHANGE_EVERY_MS = 40;
const WARM_UP = 20;
const P50_REACH_MS = 20;
const P99_REACH_MS = 100;
const ENDPOINTS = 100;
const HANGING = 10;
const TOLERANCE = 1.5;
const BACKLOG = 100_000;
const GROWTH_REACH_BYTES = 64e6;
const READS_REACH = 0.8;
const READ_SECONDS = 3;
const ROUNDS = 5;
const PATIENCE_MS = 120_000;
const SETTLE_MS = 2_000;

/** Measures the throughput and latency of webhook deliveries, and the effect of a backlog. */
export async function measureWebhooks(workspace: Workspace): Promise<Figure[]> {
  return [
    ...(await measureThroughput(workspace)),
    ...(await measureLatency(workspace)),
    ...(await measureBacklog(workspace)),
  ];
}

async function measureThroughput(workspace: Workspace): Promise<Figure[]> {
  const site = await createWebhookSite(workspace, { endpoints: 1 });
  await site.queue(QUEUED);
  const server = await site.start();
  try {
    const half = await site.untilTaken(QUEUED / 2, PATIENCE_MS);
    const busyBefore = mainThreadMs(server.pid);
    const all = await site.untilTaken(QUEUED, PATIENCE_MS);
    const busyMs = mainThreadMs(server.pid) - busyBefore;
    const count = all.count - half.count;
    const perSecond = (count * 1_000) / (all.last - half.last);
    const share = (busyMs / count / 1_000) * PER_SECOND_REACH;
    return [
      {
        what: "deliveries to one fast receiver, the server on one core",
        target: `${PER_SECOND_REACH.toLocaleString("en-US")} a second`,
        measured: `${rounded(perSecond)} a second; a thousand take ${share.toFixed(2)} of a core`,
        isReached: perSecond >= PER_SECOND_REACH && share <= 1,
        numbers: {
          "deliveries per second": perSecond,
          "µs of processor time per delivery": (busyMs * 1_000) / count,
        },
      },
    ];
  } finally {
    await server.stop();
    await site.receiver.stop();
  }
}

async function measureLatency(workspace: Workspace): Promise<Figure[]> {
  const alone = await latenciesOf(workspace, 1, 0);
  const without = await latenciesOf(workspace, ENDPOINTS - HANGING, 0);
  const beside = await latenciesOf(workspace, ENDPOINTS, HANGING);
  const [p50, p99] = [percentile(alone, 50), percentile(alone, 99)];
  const [middle, usual] = [median(beside), median(without)];
  return [
    {
      what: "from a change's commit to its receipt, nothing else to do",
      target: `p50 ${P50_REACH_MS} ms, p99 ${P99_REACH_MS} ms`,
      measured: `p50 ${p50} ms, p99 ${p99} ms`,
      isReached: p50 <= P50_REACH_MS && p99 <= P99_REACH_MS,
      numbers: { "p50 in ms": p50, "p99 in ms": p99 },
    },
    {
      what: `the same to ${ENDPOINTS - HANGING} endpoints at once, beside ${HANGING} that hang`,
      target: "as fast as without these",
      measured: `median ${middle} ms, p99 ${percentile(beside, 99)} ms (without: ${usual} ms, ${percentile(without, 99)} ms)`,
      isReached: middle <= usual * TOLERANCE + 1,
      numbers: { "median in ms": middle, "median without these in ms": usual },
    },
  ];
}

/** Measures the latency of each delivery of successive changes with pauses in between. */
async function latenciesOf(
  workspace: Workspace,
  endpoints: number,
  hanging: number,
): Promise<number[]> {
  const site = await createWebhookSite(workspace, { endpoints, hanging });
  const server = await site.start();
  const receivers = endpoints - hanging;
  const everyMs = CHANGE_EVERY_MS + receivers;
  const changes = receivers > 1 ? CHANGES / 2 : CHANGES;
  try {
    await change(site, server.url, { from: 0, until: WARM_UP }, everyMs);
    await site.untilTaken(WARM_UP * receivers, PATIENCE_MS);
    await Bun.sleep(SETTLE_MS);
    await site.forget();
    await change(site, server.url, { from: WARM_UP, until: WARM_UP + changes }, everyMs);
    return (await site.untilTaken(changes * receivers, PATIENCE_MS)).latencies;
  } finally {
    await server.stop();
    await site.receiver.stop();
  }
}

/** Each of these changes sets a component to another status than it has. */
async function change(
  { page: { componentIds }, key }: WebhookSite,
  url: string,
  { from, until }: { from: number; until: number },
  everyMs: number,
): Promise<void> {
  for (let index = from; index < until; index++) {
    const isOdd = Math.floor(index / componentIds.length) % 2 === 1;
    const id = componentIds[index % componentIds.length] ?? "";
    const answer = await fetch(`${url}/api/v1/components/${id}`, {
      method: "PATCH",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ status: isOdd ? "operational" : "major_outage" }),
    });
    if (answer.status !== 200) throw new Error(`a change was refused: ${await answer.text()}`);
    await answer.bytes();
    await Bun.sleep(everyMs);
  }
}

async function measureBacklog(workspace: Workspace): Promise<Figure[]> {
  const site = await createWebhookSite(workspace, { endpoints: 1 });
  const path = `/api/v1/status/${site.page.slug}`;
  const headers = { Authorization: `Bearer ${site.key}` };
  const read = async (url: string) =>
    (await runWrk(url + path, { connections: 32, seconds: READ_SECONDS, headers })).perSecond;
  const idle = await site.start();
  await read(idle.url);
  await Bun.sleep(SETTLE_MS);
  const usual: number[] = [];
  for (let round = 0; round < ROUNDS; round++) usual.push(await read(idle.url));
  await idle.stop();

  await site.queue(BACKLOG);
  const server = await site.start();
  try {
    await read(server.url);
    await Bun.sleep(SETTLE_MS);
    const before = residentBytes(server.pid);
    forgetPeak(server.pid);
    const during: number[] = [];
    for (let round = 0; round < ROUNDS; round++) during.push(await read(server.url));
    const left = BACKLOG - (await site.taken()).count;
    if (left <= 0) throw new Error("the backlog was gone before the reads were");
    await site.untilTaken(BACKLOG, PATIENCE_MS);
    const growth = peakResidentBytes(server.pid) - before;
    const ratio = median(during) / median(usual);
    return [
      {
        what: `status reads while a backlog of ${BACKLOG.toLocaleString("en-US")} drains, one core for both`,
        target: `${READS_REACH} of the usual rate`,
        measured: `${ratio.toFixed(2)} (${rounded(median(during))}/s against ${rounded(median(usual))}/s)`,
        isReached: ratio >= READS_REACH,
        numbers: { ratio, "reads per second": median(during) },
      },
      memoryFigure("more resident memory while it drains", growth, GROWTH_REACH_BYTES),
    ];
  } finally {
    await server.stop();
    await site.receiver.stop();
  }
}
