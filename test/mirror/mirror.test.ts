import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { deletePage } from "../../src/features/pages/deletion";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { createTestClock } from "../support/clock";
import { readHtml } from "../support/html";
import { createMirrorSite, type MirrorSite, type TestStore } from "../support/mirror-site";
import { updatePage } from "../support/examined";

interface Shops extends MirrorSite {
  /** Ids of the pages. `shop` is the default page. */
  shop: string;
  other: string;
  /** Opens an incident of `shop` and returns its id. */
  report(name: string): Promise<string>;
}

/** A complete mirror of two public pages. */
async function createShops(options: { store?: TestStore; start?: string } = {}): Promise<Shops> {
  const { start, store } = options;
  const site = await createMirrorSite({
    ...(start && { clock: createTestClock(Date.parse(start)) }),
    ...(store && { store }),
  });
  const { page: shop } = await site.app.page({ slug: "shop", name: "Shop" });
  const { page: other } = await site.app.page({ slug: "other", name: "Other" });
  const key = await site.app.keyWith("write:incidents");
  await site.pass(0);
  site.store.taken();
  return {
    ...site,
    shop: shop.id,
    other: other.id,
    async report(name) {
      const json = { page: "shop", name, body: "We look." };
      const { body } = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
      return body.id;
    },
  };
}

function indexOf(site: MirrorSite): { as_of: string | null; files: Record<string, string> } {
  return JSON.parse(site.read("mirror.json"));
}

function textsOf(site: MirrorSite, path: string, selector: string): string[] {
  return readHtml(site.read(path)).texts(selector);
}

/** Changes settings of a page, as the dashboard and commands do. */
function change(
  { app: { ctx } }: MirrorSite,
  id: string,
  input: Parameters<typeof updatePage>[3],
): Promise<unknown> {
  return ctx.db.write((tx) => updatePage(ctx, tx, id, input, CLI_ACTOR));
}

const makePrivate = (site: MirrorSite, id: string) => change(site, id, { visibility: "private" });

/** Paths of the mirror that name a page by its slug. */
const pathsOf = (site: MirrorSite, slug: string) =>
  site.paths().filter((path) => path.startsWith(`status/${slug}/`));

describe("updates of a mirror", () => {
  test("a change is written one second later, the list of files last", async () => {
    await using site = await createShops();
    const id = await site.report("Payments fail");
    await site.pass(SECOND_MS - 1);
    expect(site.store.taken()).toEqual([]);
    await site.pass(1);
    const written = site.store.taken();
    expect(written.at(-1)).toBe("mirror.json");
    expect(written).toContain(`status/shop/incidents/${id}/index.html`);
    expect(written).toContain("status/shop/feed.atom");
    expect(textsOf(site, "index.html", "#open h3")).toEqual(["Payments fail"]);
    const { as_of, files } = indexOf(site);
    expect(as_of).toBe("2026-03-10T12:00:01.000Z");
    expect(Object.keys(files)).toEqual(site.paths().filter((path) => path !== "mirror.json"));
    for (const [path, hash] of Object.entries(files)) {
      const { bytes = "" } = site.store.files.get(path) ?? {};
      expect(new Bun.CryptoHasher("sha256").update(bytes).digest("hex")).toBe(hash);
    }
  });

  test("only files whose content changes are written", async () => {
    await using site = await createShops();
    const first = await site.report("Payments fail");
    await site.pass(SECOND_MS);
    await site.pass(HOUR_MS);
    site.store.taken();
    const second = await site.report("Search is slow");
    await site.pass(SECOND_MS);
    const written = site.store.taken();
    expect(written).toContain(`status/shop/incidents/${second}/index.html`);
    expect(written).not.toContain(`status/shop/incidents/${first}/index.html`);
    expect(written).not.toContain("status/shop/calendar.ics");
    expect(written.filter((path) => /^(status\/other|assets)\//.test(path))).toEqual([]);
    const [old] = textsOf(site, `status/shop/incidents/${first}/index.html`, "[data-made-at]");
    expect(old).toBe("Copy made 12:00 UTC on 10 Mar 2026");
    const [made] = textsOf(site, "status/shop/index.html", "[data-made-at]");
    expect(made).toBe("Copy made 13:00 UTC on 10 Mar 2026");
  });

  test("the list alone is written every minute", async () => {
    await using site = await createShops();
    await site.pass(MINUTE_MS);
    expect(site.store.taken()).toEqual(["mirror.json"]);
    expect(indexOf(site).as_of).toBe("2026-03-10T12:01:00.000Z");
  });

  test("all pages are compared at midnight in UTC", async () => {
    await using site = await createShops({ start: "2026-03-10T23:58:30Z" });
    await site.pass(MINUTE_MS);
    site.store.taken();
    await site.pass(30 * SECOND_MS);
    await site.pass(SECOND_MS);
    const written = site.store.taken();
    expect(written).toContain("status/shop/index.html");
    expect(written).toContain("status/other/index.html");
    expect(indexOf(site).as_of).toBe("2026-03-11T00:00:01.000Z");
  });

  test("at midnight, lost files are written again, and files of late writes are removed", async () => {
    await using site = await createShops({ start: "2026-03-10T23:59:00Z" });
    const lost = "status/shop/badge.svg";
    const late = "status/secret/index.html";
    site.store.files.delete(lost);
    await site.store.put(late, new Uint8Array());
    await site.pass(MINUTE_MS);
    await site.pass(SECOND_MS);
    expect(site.paths()).toContain(lost);
    expect(site.paths()).not.toContain(late);
    expect(indexOf(site).files).toHaveProperty([lost]);
  });

  test("an incident that is deleted leaves every file", async () => {
    await using site = await createShops();
    const id = await site.report("Payments fail");
    await site.pass(SECOND_MS);
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
    await site.pass(SECOND_MS);
    const all = site.paths().map((path) => `${path} ${site.read(path)}`);
    expect(all.some((text) => text.includes("Payments fail") || text.includes(id))).toBe(false);
  });

  test("a new slug moves the files", async () => {
    await using site = await createShops();
    await change(site, site.other, { slug: "moved" });
    await site.mirror.settled();
    expect(pathsOf(site, "other")).toEqual([]);
    await site.pass(SECOND_MS);
    expect(textsOf(site, "status/moved/index.html", "title")).toEqual([
      "All systems operational · Other",
    ]);
  });

  test("another default page replaces the documents at the root", async () => {
    await using site = await createShops();
    await change(site, site.other, { default: true });
    await site.pass(SECOND_MS);
    expect(textsOf(site, "index.html", "title")).toEqual(["All systems operational · Other"]);
    expect(pathsOf(site, "shop")).toContain("status/shop/index.html");
    await makePrivate(site, site.shop);
    await site.mirror.settled();
    expect(site.paths()).toContain("index.html");
  });

  test("a node that is not the primary writes nothing until it is", async () => {
    await using site = await createShops();
    const { ctx } = site.app;
    await site.pass(HOUR_MS);
    site.store.taken();
    ctx.isPrimary = () => false;
    ctx.baseUrl = "https://moved.test";
    ctx.signals.settingsChanged.emit();
    await site.pass(HOUR_MS);
    expect(site.store.taken()).toEqual([]);
    ctx.isPrimary = () => true;
    await site.pass(10 * SECOND_MS);
    expect(site.store.taken()).toContain("status/other/index.html");
  });

  test("a new public address is written", async () => {
    await using site = await createShops();
    const { ctx } = site.app;
    ctx.baseUrl = "https://moved.test";
    ctx.signals.settingsChanged.emit();
    await site.pass(SECOND_MS);
    const page = readHtml(site.read("status/other/index.html"));
    expect(page.attributes(".strip a", "href")).toEqual(["https://moved.test/status/other"]);
  });

  test("stopping writes what has changed", async () => {
    const site = await createShops();
    await site.report("Payments fail");
    await site.mirror.stop();
    expect(textsOf(site, "index.html", "#open h3")).toEqual(["Payments fail"]);
    await site.report("Search is slow");
    await site.pass(HOUR_MS);
    expect(textsOf(site, "index.html", "#open h3")).toEqual(["Payments fail"]);
    await site[Symbol.asyncDispose]();
  });
});

describe("pages that are no longer public", () => {
  const changes = {
    "made private": makePrivate,
    deleted: ({ app: { ctx } }: MirrorSite, id: string) =>
      ctx.db.write((tx) => deletePage(ctx, tx, id, CLI_ACTOR)),
  };
  for (const [name, withdraw] of Object.entries(changes)) {
    test(`a page that is ${name} leaves the mirror at once, and the list of files`, async () => {
      await using site = await createShops();
      await withdraw(site, site.shop);
      await site.mirror.settled();
      expect(site.paths().filter((path) => !/^(status\/other|assets)\//.test(path))).toEqual([
        "apple-touch-icon.png",
        "favicon.ico",
        "icon.svg",
        "mirror.json",
        "robots.txt",
      ]);
      expect(Object.keys(indexOf(site).files).some((path) => path.includes("shop"))).toBe(false);
      await site.pass(SECOND_MS);
      expect(site.paths().filter((path) => path.includes("shop"))).toEqual([]);
    });
  }

  test("the answer to a form waits for the removal, and others do not", async () => {
    await using site = await createShops();
    const { promise, resolve } = Promise.withResolvers<void>();
    site.store.faults.hold = { path: /^mirror\.json$/, until: promise };
    const ended: string[] = [];
    const send = (method: string, path: string) =>
      Promise.resolve(
        site.hold(
          new Request(`http://status.test${path}`, { method }),
          makePrivate(site, site.other).then(() => new Response()),
        ),
      ).then(() => ended.push(`${method} ${path}`));
    const answers = [
      send("POST", `/admin/pages/${site.other}`),
      send("GET", "/admin/pages"),
      send("POST", "/api/v1/incidents?a=/admin/"),
    ];
    await site.app.clock.advance(1);
    expect(ended.toSorted()).toEqual(["GET /admin/pages", "POST /api/v1/incidents?a=/admin/"]);
    resolve();
    await Promise.all(answers);
    expect(pathsOf(site, "other")).toEqual([]);
  });

  test("a removal that fails raises an alarm with the paths and is tried again", async () => {
    await using site = await createShops();
    site.store.faults.remove = true;
    const answer = site.hold(
      new Request("http://status.test/admin/pages", { method: "POST" }),
      makePrivate(site, site.other).then(() => new Response("done")),
    );
    expect(await (await answer).text()).toBe("done");
    const detail = site.alarms.get("mirror_removal");
    expect(detail).toContain("status/other/index.html");
    expect(detail).toMatch(/ and \d+ more files\. The removal is tried again\.$/);
    expect(site.mirror.state().error).toBe("The store s3://status refused.");
    site.store.faults.remove = false;
    await site.pass(5 * SECOND_MS);
    expect(site.alarms.has("mirror_removal")).toBe(false);
    expect(pathsOf(site, "other")).toEqual([]);
  });

  test("an answer waits for a removal at most ten seconds", async () => {
    await using site = await createShops();
    const { promise, resolve } = Promise.withResolvers<void>();
    site.store.faults.hold = { path: /^mirror\.json$/, until: promise };
    const answer = Promise.resolve(
      site.hold(
        new Request("http://status.test/admin/pages", { method: "POST" }),
        makePrivate(site, site.other).then(() => new Response("done")),
      ),
    );
    await site.app.clock.advance(1);
    await site.app.clock.advance(10 * SECOND_MS);
    expect(await (await answer).text()).toBe("done");
    resolve();
  });

  test("an answer is sent although the database cannot be read after the removal", async () => {
    await using site = await createShops();
    const { db } = site.app.ctx;
    const answer = site.hold(
      new Request("http://status.test/admin/pages", { method: "POST" }),
      makePrivate(site, site.other).then(() => {
        Object.defineProperty(db, "statements", {
          configurable: true,
          get() {
            throw new Error("the disk fails");
          },
        });
        return new Response("done");
      }),
    );
    await site.app.clock.advance(10 * SECOND_MS);
    expect(await (await answer).text()).toBe("done");
    Reflect.deleteProperty(db, "statements");
  });

  test("an answer that waited in vain for a removal raises an alarm with the paths", async () => {
    await using site = await createShops();
    const { promise, resolve } = Promise.withResolvers<void>();
    site.store.faults.hold = { path: /^status\/other\/index/, until: promise };
    await change(site, site.other, { name: "Renamed" });
    await site.app.clock.advance(SECOND_MS);
    const answer = site.hold(
      new Request("http://status.test/admin/pages", { method: "POST" }),
      makePrivate(site, site.other).then(() => new Response("done")),
    );
    await site.app.clock.advance(1);
    expect(site.alarms.size).toBe(0);
    await site.app.clock.advance(10 * SECOND_MS);
    await answer;
    expect(site.alarms.get("mirror_removal")).toStartWith(
      "The mirror s3://status still has status/other/",
    );
    resolve();
    await site.mirror.settled();
    expect(site.alarms.size).toBe(0);
    expect(pathsOf(site, "other")).toEqual([]);
  });

  test("a write that arrives after it failed and after the removal is removed by the next attempt", async () => {
    await using site = await createShops();
    site.store.faults.put = /^status\/shop\//;
    await site.report("Payments fail");
    await site.pass(SECOND_MS);
    site.store.faults.put = undefined;
    await makePrivate(site, site.shop);
    await site.mirror.settled();
    expect(pathsOf(site, "shop")).toEqual([]);
    await site.store.put("status/shop/index.html", new Uint8Array());
    await site.pass(5 * SECOND_MS);
    expect(pathsOf(site, "shop")).toEqual([]);
  });

  test("a write that is under way does not bring a removed file back", async () => {
    await using site = await createShops();
    const { promise, resolve } = Promise.withResolvers<void>();
    site.store.faults.hold = { path: /^status\/shop\//, until: promise };
    await site.report("Payments fail");
    await site.app.clock.advance(SECOND_MS);
    await makePrivate(site, site.shop);
    resolve();
    await site.mirror.settled();
    expect(pathsOf(site, "shop")).toEqual([]);
    await site.pass(MINUTE_MS);
    expect(site.paths().filter((path) => path.includes("shop"))).toEqual([]);
    expect(pathsOf(site, "other").length).toBeGreaterThan(10);
  });
});
