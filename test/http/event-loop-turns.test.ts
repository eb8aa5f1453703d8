import { expect, test } from "bun:test";
import { makeInSlices, runInSlices } from "../../src/base/in-slices";
import { CLI_ACTOR } from "../../src/base/actor";
import { listNumbers } from "../../src/features/compat/store";
import { createIncidentCache } from "../../src/features/incidents/records";
import { deletePage } from "../../src/features/pages/deletion";
import { createSnapshots, type Snapshots } from "../../src/features/status/snapshots";
import type { MirrorFiles } from "../../src/mirror/files";
import { createUpdates } from "../../src/mirror/mirror";
import { createTestApp } from "../support/app";
import { createLargePage } from "../support/large-page";
import { updatePage } from "../support/examined";
import { turnsDuring } from "../support/turns";

test.each([
  ["a status page of 1,000 components", 5, "/status/large"],
  ["a group of 1,000 components with their days", 20, "/status/large/groups/{group}"],
])("%s lets other work run %d times while its rows are made", async (_, turns, place) => {
  await using large = await createLargePage();
  const { app, key } = large;
  const [group] = (await app.call("/api/v1/status/large", { key })).body.groups;
  const path = place.replace("{group}", group.id);
  const read = () => app.call(path);
  expect(await turnsDuring(read)).toBeGreaterThanOrEqual(turns);
  expect(await turnsDuring(read)).toBeLessThan(5);
  const page = await read();
  expect(page.status).toBe(200);
  expect(page.text.match(/<li class="component">/g)).toHaveLength(1_000);
});

test.each([
  ["/api/v1/status/large", 5],
  ["/status/large/api/v2/components.json", 5],
  ["/status/large/summary.json", 20],
  ["/status/large/version", 5],
  ["/status/large/badge/{component}.svg", 5],
  ["/api/status-page/large", 5],
  ["/api/status-page/large/badge", 5],
  ["/api/entry-page", 5],
  ["/api/badge/{number}/status", 5],
  ["/compat/gatus/large/api/v1/config", 5],
  ["/compat/gatus/api/v1/config", 5],
])(
  "the first read of %s of 1,000 components lets other work run %d times",
  async (place, turns) => {
    await using large = await createLargePage();
    const { app, key, page, componentIds } = large;
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, page.id, { compat: ["uptime-kuma", "gatus"] }, CLI_ACTOR),
    );
    const id = componentIds[7] ?? "";
    const [{ number = 0 } = {}] = listNumbers(app.ctx.db, { ids: JSON.stringify([id]) });
    const path = place.replace("{component}", id).replace("{number}", String(number));
    const read = () => app.call(path, path.startsWith("/api/v1/") ? { key } : {});
    // Loads the routes.
    expect((await app.call("/compat/gatus/none/api/v1/config")).status).toBe(404);
    expect(await turnsDuring(read)).toBeGreaterThanOrEqual(turns);
    expect(await turnsDuring(read)).toBeLessThan(5);
    expect((await read()).status).toBe(200);
  },
);

test("the summary of a large page is made once for all its languages", async () => {
  await using large = await createLargePage();
  const { app, page } = large;
  await app.ctx.db.write((tx) =>
    updatePage(app.ctx, tx, page.id, { languages: ["de"] }, CLI_ACTOR),
  );
  const read = (query: string) => app.call(`/status/large/summary.json${query}`);
  expect(await turnsDuring(() => read(""))).toBeGreaterThanOrEqual(20);
  expect(await turnsDuring(() => read("?lang=de"))).toBeLessThan(5);
  expect((await read("?lang=de")).status).toBe(200);
});

test("a large page that changes while it is prepared is prepared again", async () => {
  await using large = await createLargePage();
  const { app, key } = large;
  await app.call("/api/v1/status/none", { key });
  const reading = app.call("/api/v1/status/large", { key });
  // The change comes after some of the components were read.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  await large.openIncidents(1, { status: "major_outage" });
  expect(await turnsDuring(() => reading)).toBeGreaterThanOrEqual(5);
  const { text } = await reading;
  expect(text.match(/"status":"major_outage"/g)?.length).toBeGreaterThanOrEqual(1_000);
});

test("the answers of a large page that is prepared are those of a prepared one", async () => {
  await using large = await createLargePage();
  const { app, key } = large;
  await app.call("/api/v1/status/none", { key });
  const head = app.call("/api/v1/status/large", { key, method: "HEAD" });
  const [first, second] = await Promise.all([head, app.call("/api/v1/status/large", { key })]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.text.length).toBeGreaterThan(100_000);
  const etag = second.headers.get("etag") ?? "";
  expect(first.headers.get("etag")).toBe(etag);
  const remaining = (answer: { headers: Headers }) =>
    Number(answer.headers.get("x-ratelimit-remaining"));
  expect(remaining(first) - remaining(second)).toBe(1);
  app.ctx.signals.settingsChanged.emit();
  const unchanged = await app.call("/api/v1/status/large", {
    key,
    headers: { "If-None-Match": etag },
  });
  expect(unchanged.status).toBe(304);
});

test("a large page that is deleted while it is prepared is not found", async () => {
  await using large = await createLargePage();
  const { app, page, key } = large;
  await app.page({ slug: "other" });
  await app.call("/status/none/summary.json");
  const readings = [
    app.call("/api/v1/status/large", { key }),
    app.call("/status/large"),
    app.call("/status/large/version"),
  ];
  await app.ctx.db.write((tx) => deletePage(app.ctx, tx, page.id, CLI_ACTOR));
  for (const { status } of await Promise.all(readings)) expect(status).toBe(404);
});

test.each(["/openapi.json", "/openapi.yaml", "/api/v1", "/docs", "/docs/search?q=id"])(
  "the first read of %s lets other work run while the API is described",
  async (path) => {
    await using app = await createTestApp();
    // Loads the routes.
    expect((await app.call("/docs/licences")).status).toBe(200);
    const read = () => app.call(path);
    expect(await turnsDuring(read)).toBeGreaterThanOrEqual(6);
    expect(await turnsDuring(read)).toBeLessThan(5);
    expect((await read()).status).toBe(200);
  },
);

test("a large page that becomes private while it is prepared is not found", async () => {
  await using large = await createLargePage();
  const { app, page } = large;
  await app.call("/status/none/summary.json");
  for (const file of ["summary.json", "api/v2/components.json", "feed.atom"]) {
    const reading = app.call(`/status/large/${file}`);
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, page.id, { visibility: "private" }, CLI_ACTOR),
    );
    expect((await reading).status, file).toBe(404);
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, page.id, { visibility: "public" }, CLI_ACTOR),
    );
  }
});

test("a change while a large page is prepared is part of the answer", async () => {
  await using large = await createLargePage();
  const { app, key } = large;
  await app.call("/api/v1/status/none", { key });
  const reading = app.call("/api/v1/status/large", { key });
  await large.openIncidents(1, { status: "major_outage" });
  const { text } = await reading;
  expect(text.match(/"status":"major_outage"/g)?.length).toBeGreaterThanOrEqual(1_000);
});

test("a feed lets other work run after each of its entries", async () => {
  await using large = await createLargePage();
  const { app, key } = large;
  for (let count = 0; count < 30; count++) {
    const json = {
      page: "large",
      name: `Trouble ${count}`,
      body: "https://a.example/b ".repeat(99),
    };
    expect((await app.call("/api/v1/incidents", { method: "POST", key, json })).status).toBe(201);
  }
  const read = () => app.call("/status/large/feed.atom");
  expect(await turnsDuring(read)).toBeGreaterThanOrEqual(30);
  expect(await turnsDuring(read)).toBeLessThan(5);
  expect((await read()).text.match(/<entry>/g)).toHaveLength(30);
});

test("work in slices runs once for all that ask for it at the same time, and again where it failed", async () => {
  let runs = 0;
  const source = {};
  const steps = function* () {
    runs += 1;
    if (runs === 1) throw new Error("no luck");
    for (let step = 0; step < 200; step++) yield 1;
    return `made ${runs}`;
  };
  const made = makeInSlices(steps);
  expect(await Promise.resolve(made(source)).catch(String)).toBe("Error: no luck");
  expect(await Promise.all([made(source), made(source)])).toEqual(["made 2", "made 2"]);
  expect(made(source)).toBe("made 2");
  expect(await turnsDuring(() => runInSlices(steps()))).toBeGreaterThanOrEqual(4);
});

test("the mirror lets other work run 5 times before it reads a page of 1,000 components", async () => {
  await using large = await createLargePage();
  const { app, page } = large;
  const { ctx } = app;
  const snapshots = createSnapshots(ctx);
  const begun = Promise.withResolvers<void>();
  const read: Snapshots["read"] = (slug, now) => {
    begun.resolve();
    return snapshots.read(slug, now);
  };
  const files: Partial<MirrorFiles> = {
    byPath: new Map(),
    write: async () => {},
    flush: async () => {},
    remove: async () => {},
  };
  const deps = { ctx, snapshots: { ...snapshots, read }, readIncidents: createIncidentCache() };
  const updates = createUpdates(deps, files as MirrorFiles);
  let update: Promise<boolean> | undefined;
  const turns = await turnsDuring(() => {
    update = updates.write(new Set([page.id]), () => false);
    return begun.promise;
  });
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(await update).toBe(true);
});
