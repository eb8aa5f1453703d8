import { expect, test } from "bun:test";
import type { Reader } from "../../src/db/statements";
import { listNewestIncidents } from "../../src/features/incidents/records";
import { listMaintenance } from "../../src/features/maintenance/records";
import { buildSnapshot } from "../../src/features/status/snapshots";
import { readPastEntries } from "../../src/features/status/entries";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS, toIso } from "../../src/base/time";
import { counted } from "../support/counted-transaction";
import { createLargePage, type LargePage } from "../support/large-page";
import {
  addMaintenanceUpdate,
  addUpdate,
  createIncident,
  planMaintenance,
} from "../support/examined";

/** Follows a list from cursor to cursor and returns the ids on each of its pages. */
async function walk({ app, key }: LargePage, path: string): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const answer = await app.call(`${path}${cursor && `&cursor=${cursor}`}`, { key });
    expect(answer.status).toBe(200);
    pages.push(answer.body.data.map(({ id }: { id: string }) => id));
    cursor = answer.body.next_cursor;
  }
  return pages;
}

/** Returns the number of rows that statements return during `read`. */
function rowsOf({ app }: LargePage, read: (reader: Reader) => unknown): Promise<number> {
  return app.ctx.db.write((tx) => {
    const { tx: watched, rows } = counted(tx);
    read(watched);
    return rows();
  });
}

test("a page of the list of incidents ends before it shows more than 10,000 named components", async () => {
  await using large = await createLargePage();
  const ids = await large.openIncidents(12, { draft: true });
  const pages = await walk(large, "/api/v1/incidents?limit=100");
  expect(pages.map((page) => page.length)).toEqual([10, 2]);
  expect(pages.flat()).toEqual(ids.toReversed());
  const { app, key } = large;
  const [first] = (await app.call("/api/v1/incidents?limit=1", { key })).body.data;
  expect(first.components).toHaveLength(1_000);
  expect(first.updates[0].components).toHaveLength(1_000);
  expect(first).not.toHaveProperty("truncated");
});

test("a page of the list of maintenance ends before it shows more than 10,000 components", async () => {
  await using large = await createLargePage();
  const ids = await large.plan(12);
  const pages = await walk(large, "/api/v1/maintenance?limit=100");
  expect(pages.map((page) => page.length)).toEqual([10, 2]);
  expect(pages.flat()).toEqual(ids.toReversed());
});

test("a page of a list ends before it shows more than 2.5 MB of texts", async () => {
  await using large = await createLargePage();
  const { ctx, clock } = large.app;
  const text = { body: "y".repeat(10_000) };
  const scheduled = {
    scheduled_for: toIso(clock.now() + HOUR_MS),
    scheduled_until: toIso(clock.now() + 2 * HOUR_MS),
  };
  await ctx.db.write((tx) => {
    for (let count = 0; count < 14; count++) {
      const named = { page: "large", name: "Long", ...text };
      const { id } = createIncident(ctx, tx, named, "api", CLI_ACTOR).row;
      const plan = { ...named, components: [], ...scheduled };
      const maintenance = planMaintenance(ctx, tx, plan, CLI_ACTOR);
      for (let more = 0; more < 25; more++) {
        addUpdate(ctx, tx, id, text, CLI_ACTOR);
        addMaintenanceUpdate(ctx, tx, maintenance.id, text, CLI_ACTOR);
      }
    }
  });
  // 20 updates of each are shown.
  for (const path of ["/api/v1/incidents", "/api/v1/maintenance"]) {
    const pages = await walk(large, `${path}?limit=100`);
    expect(pages.map((page) => page.length)).toEqual([12, 2]);
  }
});

test("public documents show 5,000 named components, and 20 of each further incident", async () => {
  await using large = await createLargePage();
  const { app, key } = large;
  await large.openIncidents(7);
  const { incidents } = (await app.call("/api/v1/status/large", { key })).body;
  const counts = (list: { components: unknown[] }[]) => list.map((one) => one.components.length);
  expect(counts(incidents)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 20, 20]);
  expect(incidents.map((one: { truncated?: true }) => one.truncated)).toEqual([
    ...Array.from({ length: 5 }),
    true,
    true,
  ]);
  expect(incidents[6].updates).toHaveLength(1);
  expect(incidents[6].updates[0].components).toHaveLength(20);
  expect(incidents[6].updates[0].body).toBe("Hm.");
  const v2 = (await app.call("/status/large/api/v2/incidents.json")).body.incidents;
  expect(counts(v2)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 20, 20]);
  const page = (await app.call("/status/large")).text;
  expect(page.match(/ and more/g)).toHaveLength(2);
  expect(page).toContain("and 992 more");
});

test("a small incident behind a full one is shown with all of its components", async () => {
  await using large = await createLargePage();
  const { app, key, componentIds } = large;
  const [small = ""] = componentIds;
  const json = {
    page: "large",
    name: "Small",
    body: "Hm.",
    components: { [small]: "operational" },
  };
  expect((await app.call("/api/v1/incidents", { method: "POST", key, json })).status).toBe(201);
  await app.clock.advance(1_000);
  await large.openIncidents(6);
  const { incidents } = (await app.call("/api/v1/status/large", { key })).body;
  expect(incidents[5].truncated).toBe(true);
  expect(incidents[6]).toMatchObject({ name: "Small", components: [{ id: small }] });
  expect(incidents[6]).not.toHaveProperty("truncated");
});

test("a feed shows 24 names of an incident and of each of its updates, and counts the others", async () => {
  await using large = await createLargePage();
  await large.openIncidents(1);
  const { text } = await large.app.call("/status/large/feed.atom");
  expect(text.match(/Component \d+/g)).toHaveLength(48);
  expect(text.match(/and 976 more/g)).toHaveLength(2);
});

test("further incidents of 1,000 components cost a document at most 24 rows each", async () => {
  await using large = await createLargePage();
  const { app, page } = large;
  const pageId = page.id;
  const reads = {
    snapshot: (reader: Reader) => buildSnapshot(reader, page, app.ctx.baseUrl, app.clock.now()),
    newest: (reader: Reader) => listNewestIncidents(reader, { pageId, limit: 50 }),
  };
  await large.openIncidents(6);
  const before = await Promise.all(Object.values(reads).map((read) => rowsOf(large, read)));
  await large.openIncidents(10);
  const after = await Promise.all(Object.values(reads).map((read) => rowsOf(large, read)));
  for (const [index, rows] of after.entries()) {
    expect(rows - (before[index] ?? 0)).toBeLessThanOrEqual(10 * 26);
  }
});

test("further maintenance of 1,000 components costs a document at most 23 rows each", async () => {
  await using large = await createLargePage();
  const read = (reader: Reader) => listMaintenance(reader, { pageId: large.page.id, limit: 50 });
  await large.plan(6);
  const before = await rowsOf(large, read);
  await large.plan(10);
  expect((await rowsOf(large, read)) - before).toBeLessThanOrEqual(10 * 24);
});

test("past incidents of 1,000 components each cost the history at most 24 rows beyond the first five", async () => {
  await using large = await createLargePage();
  const { app, key, page } = large;
  const ids = await large.openIncidents(12);
  for (const id of ids) {
    const json = { status: "resolved", body: "Over." };
    const path = `/api/v1/incidents/${id}/updates`;
    expect((await app.call(path, { method: "POST", key, json })).status).toBe(201);
  }
  const rows = await rowsOf(large, (reader) => readPastEntries(reader, page.id, app.clock.now()));
  expect(rows).toBeLessThanOrEqual(5_000 + 12 * 30);
});
