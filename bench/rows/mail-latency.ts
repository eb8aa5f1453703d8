import { CLI_ACTOR } from "../../src/base/actor";
import { addSubscribers } from "../support/add-subscribers";
import { type Figure, percentile } from "../support/figure";
import { createMailSite, type MailSite } from "../support/mail-site";
import type { Server } from "../support/server";
import type { Workspace } from "../support/workspace";
import { createPage } from "../../test/support/examined";

/** A page has at most 50 mailings a day, so that several are needed. */
const PAGES = 4;
const INCIDENTS = 40;
const WARM_UP = 20;
const PAUSE_MS = 10;
const MAILING_REACH_MS = 500;
const BACKLOG = 100_000;
const SIGN_UPS = 60;
const SIGN_UP_EVERY_MS = 100;
const CONFIRMATION_REACH_MS = 2_000;

/** Measures the time until the relay has the mail of a change, and of a sign-up during a large mailing. */
export async function measureMailLatency(workspace: Workspace): Promise<Figure[]> {
  return [await measureMailings(workspace), await measureConfirmations(workspace)];
}

const slugOf = (index: number) => `small-${index}`;

async function measureMailings(workspace: Workspace): Promise<Figure> {
  const site = await createMailSite(workspace, 0, async (_, ctx) => {
    for (let index = 0; index < PAGES; index++) {
      const page = { slug: slugOf(index), name: "Small" };
      const { id } = await ctx.db.write((tx) => createPage(ctx, tx, page, CLI_ACTOR));
      await addSubscribers(ctx, { pageId: id, count: 1, after: index });
    }
  });
  const server = await site.start();
  const times: number[] = [];
  try {
    for (let index = 0; index < PAGES * INCIDENTS; index++) {
      const before = performance.timeOrigin + performance.now();
      await site.open(server, slugOf(index % PAGES));
      times.push((await site.untilTaken(index + 1)).last - before);
      await Bun.sleep(PAUSE_MS);
    }
  } finally {
    await server.stop();
    await site.stop();
  }
  const measured = times.slice(WARM_UP);
  const p99 = percentile(measured, 99);
  return {
    what: "from the request that opens an incident until the relay has its first mail, nothing else to do",
    target: `p99 ${MAILING_REACH_MS} ms`,
    measured: `p50 ${percentile(measured, 50).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    isReached: p99 <= MAILING_REACH_MS,
    numbers: { "p99 in ms": p99 },
  };
}

async function measureConfirmations(workspace: Workspace): Promise<Figure> {
  const site = await createMailSite(workspace, BACKLOG);
  const server = await site.start();
  const sentAt = new Map<string, number>();
  try {
    await site.open(server);
    for (let index = 0; index < SIGN_UPS; index++) {
      const address = `probe${index}@example.com`;
      sentAt.set(address, performance.timeOrigin + performance.now());
      await signUp(site, server, address, `198.51.100.${index}`);
      await Bun.sleep(SIGN_UP_EVERY_MS);
    }
    await Bun.sleep(2 * CONFIRMATION_REACH_MS);
    const { count, probes } = await site.taken();
    if (count >= BACKLOG) throw new Error("the mailing was over before the sign-ups were");
    const times = [...sentAt].map(
      ([address, at]) => (probes[address] ?? Number.POSITIVE_INFINITY) - at,
    );
    const p99 = percentile(times, 99);
    return {
      what: `from a sign-up until the relay has its confirmation, while the mails to ${BACKLOG.toLocaleString("en-US")} subscribers are written and sent`,
      target: `p99 ${CONFIRMATION_REACH_MS} ms`,
      measured: `p50 ${percentile(times, 50).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      isReached: p99 <= CONFIRMATION_REACH_MS,
      numbers: { "p99 in ms": p99 },
    };
  } finally {
    await server.stop();
    await site.stop();
  }
}

async function signUp(
  { page }: MailSite,
  { url }: Server,
  email: string,
  client: string,
): Promise<void> {
  const answer = await fetch(`${url}/status/${page.slug}/subscribe`, {
    method: "POST",
    redirect: "manual",
    headers: { Origin: url, "X-Forwarded-For": client },
    body: new URLSearchParams({ email }),
  });
  if (answer.status !== 303) throw new Error(`a sign-up was answered with ${answer.status}`);
}
