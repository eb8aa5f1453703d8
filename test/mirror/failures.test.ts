import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createAlarms } from "../../src/features/alarms/alarms";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { startMirror } from "../../src/mirror/mirror";
import { createTestApp } from "../support/app";
import { createMirrorSite, createTestStore, type MirrorSite } from "../support/mirror-site";

function indexOf(site: MirrorSite): { as_of: string | null; term: unknown; txid: unknown } {
  return JSON.parse(site.read("mirror.json"));
}

/** Returns the value of the metric; undefined without one. */
function ageOf({ mirror }: MirrorSite): number | undefined {
  const [family] = mirror.metrics;
  expect(family?.name).toBe("allclear_fleet_mirror_age_seconds");
  return [...(family?.read() ?? [])][0]?.value;
}

describe("a store that fails", () => {
  test("a mirror that cannot be written is tried again with growing pauses, and an alarm follows", async () => {
    await using site = await createMirrorSite();
    await site.app.page({ slug: "shop", name: "Shop" });
    await site.pass(0);
    expect(ageOf(site)).toBe(0);
    site.store.faults.put = /./;
    await site.app.page({ slug: "second", name: "Second" });
    await site.pass(SECOND_MS);
    expect(site.mirror.state()).toMatchObject({
      asOf: site.app.clock.now() - SECOND_MS,
      error: "The store s3://status did not answer.",
    });
    const attempts = () =>
      site.app.logged.filter(({ msg }) => msg?.startsWith("the mirror could not be written"));
    expect(attempts()).toHaveLength(1);
    await site.pass(5 * SECOND_MS);
    expect(attempts()).toHaveLength(2);
    await site.pass(9 * SECOND_MS);
    expect(attempts()).toHaveLength(2);
    await site.pass(SECOND_MS);
    expect(attempts()).toHaveLength(3);
    for (let minute = 1; minute <= 4; minute += 1) await site.pass(MINUTE_MS);
    expect(site.alarms.size).toBe(0);
    await site.pass(MINUTE_MS);
    expect(site.alarms.get("mirror_stale")).toBe(
      "The mirror s3://status was last written at 2026-03-10 12:00 UTC. The store s3://status did not answer.",
    );
    expect(ageOf(site)).toBeGreaterThan(300);
    site.store.faults.put = undefined;
    await site.pass(MINUTE_MS);
    await site.pass(MINUTE_MS);
    expect(site.alarms.size).toBe(0);
    expect(site.mirror.state().error).toBeUndefined();
    expect(site.paths()).toContain("status/second/index.html");
  });

  test("a mirror that was never written raises the alarm after five minutes", async () => {
    const store = createTestStore();
    store.faults.list = true;
    await using site = await createMirrorSite({ store });
    await site.pass(0);
    expect(ageOf(site)).toBeUndefined();
    expect(site.mirror.state()).toMatchObject({ asOf: undefined, files: 0 });
    for (let minute = 1; minute <= 5; minute += 1) await site.pass(MINUTE_MS);
    expect(site.alarms.get("mirror_stale")).toBe(
      "The mirror s3://status was never written. The store s3://status did not answer.",
    );
  });

  test("a page that is made private while the files are not known yet raises an alarm", async () => {
    const store = createTestStore();
    {
      await using earlier = await createMirrorSite({ store });
      await earlier.app.page({ slug: "shop", name: "Shop" });
      await earlier.pass(0);
    }
    store.faults.list = true;
    await using site = await createMirrorSite({ store });
    await site.pass(0);
    expect(site.alarms.size).toBe(0);
    await site.app.page({ slug: "shop", name: "Shop", visibility: "private" });
    await site.mirror.settled();
    expect(site.alarms.get("mirror_removal")).toBe(
      "The files of the mirror s3://status cannot be listed. It may still have those of pages that were deleted or made private. The removal is tried again.",
    );
    store.faults.list = false;
    await site.pass(5 * SECOND_MS);
    expect(site.alarms.size).toBe(0);
    expect(site.paths().filter((path) => path.startsWith("status/"))).toEqual([]);
  });

  test("the list of files keeps its time while a document cannot be written", async () => {
    await using site = await createMirrorSite();
    await site.app.page({ slug: "shop", name: "Shop" });
    await site.pass(0);
    site.store.faults.put = /^status\/second\//;
    await site.app.page({ slug: "second", name: "Second" });
    for (let minute = 1; minute <= 3; minute += 1) await site.pass(MINUTE_MS);
    expect(indexOf(site).as_of).toBe("2026-03-10T12:00:00.000Z");
    site.store.faults.put = undefined;
    await site.pass(MINUTE_MS);
    expect(indexOf(site).as_of).not.toBe("2026-03-10T12:00:00.000Z");
  });
});

test("alarms of an earlier process go on while the store does not answer", async () => {
  await using app = await createTestApp();
  const { ctx, clock } = app;
  const earlier = createAlarms(ctx);
  earlier.raise("mirror_stale", "The mirror is old.");
  earlier.raise("mirror_removal", "The mirror still has a page.");
  await clock.advance(0);
  await earlier.stop();
  const store = createTestStore();
  store.faults.list = true;
  const alarms = createAlarms(ctx);
  const mirror = startMirror({ ...(await app.app.loadPages()), ctx, store, alarms });
  const states = () => app.events().map(({ data }) => [data["kind"], data["state"]]);
  const begun = [
    ["mirror_stale", "raised"],
    ["mirror_removal", "raised"],
  ];
  for (let minute = 1; minute <= 15; minute += 1) {
    await clock.advance(MINUTE_MS);
    await mirror.settled();
    expect(states()).toEqual(begun);
  }
  store.faults.list = false;
  for (let minute = 1; minute <= 3; minute += 1) {
    await clock.advance(MINUTE_MS);
    await mirror.settled();
  }
  expect(alarms.list()).toEqual([]);
  expect(states()).toHaveLength(4);
  await mirror.stop();
  await alarms.stop();
});

test("a page that cannot be made keeps no other page from being written, and its files stay", async () => {
  const store = createTestStore();
  {
    await using earlier = await createMirrorSite({ store });
    await earlier.app.page({ slug: "shop", name: "Shop" });
    await earlier.pass(0);
  }
  await using site = await createMirrorSite({ store, damaged: "shop" });
  await site.app.page({ slug: "shop", name: "Shop" });
  await site.app.page({ slug: "other", name: "Other" });
  await site.pass(0);
  expect(site.mirror.state()).toMatchObject({ asOf: undefined, error: "shop is damaged" });
  expect(site.paths()).toContain("status/other/index.html");
  expect(site.paths()).toContain("status/shop/index.html");
});

test("what a page no longer has is removed while another page cannot be made", async () => {
  await using site = await createMirrorSite({ damaged: "broken" });
  await site.app.page({ slug: "broken", name: "Broken" });
  await site.app.page({ slug: "shop", name: "Shop" });
  const key = await site.app.keyWith("write:incidents");
  const json = { page: "shop", name: "Typed by mistake", body: "A secret." };
  const { body } = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
  await site.pass(0);
  const path = `status/shop/incidents/${body.id}/index.html`;
  expect(site.paths()).toContain(path);
  const { ctx } = site.app;
  await ctx.db.write((tx) => deleteIncident(ctx, tx, body.id, CLI_ACTOR));
  await site.pass(MINUTE_MS);
  expect(site.paths()).not.toContain(path);
  expect(site.mirror.state().error).toBe("broken is damaged");
});

describe("a place with files", () => {
  test("files of an earlier process that are not needed are removed, and other files are left alone", async () => {
    const store = createTestStore();
    {
      await using earlier = await createMirrorSite({ store });
      await earlier.app.page({ slug: "gone", name: "Gone" });
      await earlier.pass(0);
    }
    const bytes = new Uint8Array();
    for (const path of ["404.html", ".well-known/security.txt", "assets/page.0.js"]) {
      await store.put(path, bytes);
    }
    await using site = await createMirrorSite({ store });
    await site.app.page({ slug: "shop", name: "Shop" });
    await site.pass(0);
    const paths = site.paths();
    expect(paths.filter((path) => path.includes("gone"))).toEqual([]);
    expect(paths).not.toContain("assets/page.0.js");
    expect(paths).toContain("404.html");
    expect(paths).toContain(".well-known/security.txt");
    expect(paths).toContain("status/shop/index.html");
    expect(site.mirror.state().files).toBe(paths.length - 3);
  });

  test("pages that were made private between two processes are removed before anything is written", async () => {
    const store = createTestStore();
    {
      await using earlier = await createMirrorSite({ store });
      await earlier.app.page({ slug: "gone", name: "Gone" });
      await earlier.pass(0);
    }
    await using site = await createMirrorSite({ store });
    await site.app.page({ slug: "gone", name: "Gone", visibility: "private" });
    store.faults.put = /./;
    await site.pass(0);
    expect(site.paths().filter((path) => path.startsWith("status/"))).toEqual([]);
    expect(site.paths()).not.toContain("index.html");
  });

  test("a place with files of another program is left alone", async () => {
    const store = createTestStore();
    await store.put("status/index.html", new Uint8Array());
    await using site = await createMirrorSite({ store });
    await site.app.page({ slug: "shop", name: "Shop" });
    await site.pass(0);
    expect(site.paths()).toEqual(["status/index.html"]);
    expect(site.mirror.state().error).toBe(
      "s3://status has files of another program, such as status/index.html. Name an empty folder or path for the mirror.",
    );
  });

  test("an empty place is marked before the first copy, so that a second start goes on", async () => {
    await using site = await createMirrorSite();
    const { promise, resolve } = Promise.withResolvers<void>();
    site.store.faults.hold = { path: /^status\//, until: promise };
    await site.app.page({ slug: "shop", name: "Shop" });
    await site.app.clock.advance(0);
    expect(indexOf(site)).toMatchObject({ as_of: null, term: null, txid: null, files: {} });
    resolve();
    await site.mirror.settled();
    expect(indexOf(site).as_of).toBe("2026-03-10T12:00:00.000Z");
  });
});
