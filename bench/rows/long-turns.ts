import { createIncident } from "../../src/features/incidents";
import { createComponent } from "../../src/features/components";
import { createPage } from "../../src/features/pages";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { openConnection, requestText } from "../support/connection";
import { type Figure, median } from "../support/figure";
import { openData } from "../support/open-data";
import { mainThreadMs } from "../support/processor-time";
import { createWebhookSite, type WebhookSite } from "../support/webhook-site";
import type { Server } from "../support/server";
import type { Workshop } from "../support/workshop";

const COMPONENTS = 1_000;
const ENDPOINTS = 50;
const DELIVERIES = COMPONENTS * ENDPOINTS;
const INCIDENTS = 50;
const ROUNDS = 3;
const REACH_MS = 100;
const PAUSE_MS = 5;
const PATIENCE_MS = 300_000;
const STATUSES = ["major_outage", "operational"] as const;
const SLUG = "large";
/** Updates of 10,000 characters that are nothing but links. */
const LINKS = "https://a.example/b ".repeat(500);

/** Measures the processor time of the largest requests, and the longest wait of other requests meanwhile. */
export async function measureLongTurns(workshop: Workshop): Promise<Figure[]> {
  const site = await createWebhookSite(workshop, { endpoints: ENDPOINTS });
  const ids = await seedLargePage(site.page.dataDir);
  const server = await site.start();
  try {
    await site.untilTaken(INCIDENTS * ENDPOINTS, PATIENCE_MS);
    return [await measureBulkChange(site, server, ids), await measureFeed(site, server, ids)];
  } finally {
    await server.stop();
    await site.receiver.stop();
  }
}

async function measureBulkChange(
  site: WebhookSite,
  server: Server,
  ids: readonly string[],
): Promise<Figure> {
  const turns: number[] = [];
  const longest = await longestWaitDuring(server, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await site.forget();
      const status = STATUSES[round % STATUSES.length];
      const components = Object.fromEntries(ids.map((id) => [id, status]));
      turns.push(
        await timeOf(server, () => patch(site, server, "/api/v1/components", { components })),
      );
      await site.untilTaken(DELIVERIES, PATIENCE_MS);
    }
  });
  return figureOf(
    `the longest that another request waits while ${COMPONENTS.toLocaleString("en-US")} components change at once and ${ENDPOINTS} webhooks are delivered`,
    turns,
    longest,
  );
}

async function measureFeed(
  site: WebhookSite,
  server: Server,
  ids: readonly string[],
): Promise<Figure> {
  const turns: number[] = [];
  const longest = await longestWaitDuring(server, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const status = STATUSES[(round + ROUNDS) % STATUSES.length];
      await patch(site, server, `/api/v1/components/${ids[0]}`, { status });
      const readFeed = async () => {
        const answer = await fetch(`${server.url}/status/${SLUG}/feed.atom`);
        if (answer.status !== 200) throw new Error(`the feed answered ${answer.status}`);
        await answer.bytes();
      };
      turns.push(await timeOf(server, readFeed));
    }
  });
  return figureOf(
    `the same while a feed of ${INCIDENTS} incidents full of links is made after a change`,
    turns,
    longest,
  );
}

function figureOf(what: string, turns: readonly number[], longestWait: number): Figure {
  return {
    what,
    reach: `${REACH_MS} ms`,
    measured: `${longestWait.toFixed(0)} ms (the request takes ${median(turns).toFixed(0)} ms of the server's thread, at most ${Math.max(...turns).toFixed(0)} ms)`,
    isReached: longestWait <= REACH_MS,
  };
}

async function timeOf(server: Server, act: () => Promise<void>): Promise<number> {
  const before = mainThreadMs(server.pid);
  await act();
  return mainThreadMs(server.pid) - before;
}

/** Asks for `/healthz` again and again while something happens, and answers the longest wait in ms. */
async function longestWaitDuring(server: Server, act: () => Promise<void>): Promise<number> {
  const connection = await openConnection(server.url);
  const request = requestText(server.url, "/healthz");
  let isOver = false;
  let longest = 0;
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await connection.send(request);
      longest = Math.max(longest, performance.now() - startedAt);
      await Bun.sleep(PAUSE_MS);
    }
  })();
  try {
    await act();
  } finally {
    isOver = true;
    await asking;
    connection.close();
  }
  return longest;
}

async function patch(site: WebhookSite, server: Server, path: string, json: object) {
  const answer = await fetch(server.url + path, {
    method: "PATCH",
    headers: { Authorization: `Bearer ${site.key}`, "Content-Type": "application/json" },
    body: JSON.stringify(json),
  });
  if (answer.status !== 200) throw new Error(`a change was refused: ${await answer.text()}`);
  await answer.bytes();
}

/** Adds a page of 1,000 components and of 50 incidents with texts full of links. */
async function seedLargePage(dataDir: string): Promise<string[]> {
  const { ctx, close } = openData(dataDir);
  try {
    const ids = await ctx.db.write((tx) => {
      const page = createPage(ctx, tx, { slug: SLUG, name: "Large" }, CLI_ACTOR);
      return Array.from({ length: COMPONENTS }, (_, position) => {
        const fields = { name: `Component ${position}` };
        const place = { position, managedBy: null, groupId: null };
        return createComponent(ctx, tx, page, fields, place, CLI_ACTOR).id;
      });
    });
    await ctx.db.write((tx) => {
      for (let index = 0; index < INCIDENTS; index++) {
        const input = { page: SLUG, name: `Trouble ${index}`, body: LINKS };
        createIncident(ctx, tx, input, "api", CLI_ACTOR);
      }
    });
    return ids;
  } finally {
    close();
  }
}
