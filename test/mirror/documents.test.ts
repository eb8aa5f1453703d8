import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { putLogo } from "../../src/features/pages/logo";
import { storeFirstRun } from "../../src/first-run";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { createMirrorSite, type MirrorSite } from "../support/mirror-site";
import { readHtml } from "../support/html";
import { createManyComponents, reportOn } from "../support/many-components";
import { png } from "../support/pictures";
import { wordsOf } from "../../src/languages/words";

/** A mirror of a page with incidents and maintenance in past, present and future. */
async function createShop(): Promise<MirrorSite & { ids: Record<string, string> }> {
  const site = await createMirrorSite({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "100000" } });
  const { app } = site;
  const { page, components } = await app.page({ slug: "shop", name: "Shop" }, ["API", "Search"]);
  const key = (
    await app.createKey({ scopes: ["write:incidents", "write:maintenance"], rate_limit: 10_000 })
  ).value;
  const ids: Record<string, string> = { api: components["API"] ?? "" };
  const now = app.clock.now();
  const send = async (name: string, path: string, json: object) => {
    const { status, body } = await app.call(`/api/v1/${path}`, {
      method: "POST",
      key,
      json: { page: "shop", name, ...json },
    });
    expect(status).toBe(201);
    ids[name] = body.id;
  };
  for (let number = 1; number <= 60; number += 1) {
    const at = number === 60 ? now - 40 * DAY_MS : now - number * 3 * HOUR_MS;
    await send(`Past ${number}`, "incidents", {
      body: "It was slow.",
      started_at: toIso(at),
      resolved_at: toIso(at + HOUR_MS),
    });
  }
  await send("Open", "incidents", {
    body: "We look.",
    components: { [ids["api"] ?? ""]: "partial_outage" },
  });
  await send("Planned", "maintenance", {
    body: "Upgrade",
    components: [ids["api"]],
    scheduled_for: toIso(now + DAY_MS),
    scheduled_until: toIso(now + DAY_MS + HOUR_MS),
  });
  await app.ctx.db.write((tx) => putLogo(app.ctx, tx, page.id, { bytes: png(40, 20) }, CLI_ACTOR));
  await app.page({ slug: "other", name: "Other" }, ["Web"]);
  await site.pass(0);
  return { ...site, ids };
}

/** Returns the links of copies to paths that the mirror lacks, and forms. */
function brokenLinks(site: MirrorSite): string[] {
  const paths = new Set(site.paths());
  const copies = [...paths].filter((path) => path.endsWith(".html"));
  let count = 0;
  const broken = copies.flatMap((path) => {
    const page = readHtml(site.read(path));
    const links = [
      ...page.attributes("a", "href"),
      ...page.attributes("link[href]", "href"),
      ...page.attributes("script", "src"),
      ...page.attributes("img", "src"),
    ].filter((link) => !/^(https?:|webcal:|data:|#)/.test(link));
    count += links.length;
    const isBroken = (link: string) => {
      const target = link.replace(/^\//, "").replace(/#.*$/, "");
      return !paths.has(target) && !paths.has(`${target}/index.html`.replace(/^\//, ""));
    };
    return [...links.filter(isBroken), ...page.texts("form")].map((what) => `${path}: ${what}`);
  });
  expect(count).toBeGreaterThan(5 * copies.length);
  return broken;
}

describe("the files of a mirror", () => {
  test("a page has its documents at the paths of the live ones", async () => {
    await using site = await createShop();
    const { ids } = site;
    const paths = new Set(site.paths());
    for (const path of [
      "index.html",
      "history.atom",
      "history.rss",
      "robots.txt",
      "favicon.ico",
      "apple-touch-icon.png",
      "mirror.json",
      "api/v2/summary.json",
      "api/v2/incidents/unresolved.json",
      "status/shop/index.html",
      "status/shop/history/index.html",
      "status/shop/incidents/index.html",
      "status/shop/subscribe/index.html",
      "status/shop/embed/index.html",
      "status/shop/summary.json",
      "status/shop/feed.atom",
      "status/shop/feed.rss",
      "status/shop/calendar.ics",
      "status/shop/badge.svg",
      `status/shop/badge/${ids["api"]}.svg`,
      "status/shop/badge.json",
      "status/shop/widget.js",
      "status/shop/manifest.webmanifest",
      `status/shop/incidents/${ids["Open"]}/index.html`,
      `status/shop/maintenance/${ids["Planned"]}/index.html`,
      "status/other/index.html",
    ]) {
      expect(paths.has(path), path).toBe(true);
    }
    const incidents = [...paths].filter((path) => path.startsWith("status/shop/incidents/inc_"));
    expect(incidents).toHaveLength(50);
    expect(paths.has(`status/shop/incidents/${ids["Past 49"]}/index.html`)).toBe(true);
    expect(paths.has(`status/shop/incidents/${ids["Past 60"]}/index.html`)).toBe(false);
    expect(site.mirror.state()).toEqual({
      target: "s3://status",
      asOf: site.app.clock.now(),
      files: paths.size - 1,
      error: undefined,
    });
  });

  test("data, feeds, pictures and scripts have the bytes and headers of the live ones", async () => {
    await using site = await createShop();
    const files = [...site.store.files].filter(([path]) => !/^mirror\.json$|\.html$/.test(path));
    expect(files.length).toBeGreaterThan(40);
    for (const [path, { bytes, type, cacheControl }] of files) {
      const request = new Request(`http://status.test/${path}`);
      const live = await site.app.app.handle(request, () => "203.0.113.7");
      expect(live.status, path).toBe(200);
      expect(live.headers.get("content-type"), path).toBe(type ?? "");
      expect(live.headers.get("cache-control"), path).toBe(cacheControl ?? "");
      expect(Buffer.compare(bytes, await live.bytes()), path).toBe(0);
    }
    for (const [path, { type, cacheControl }] of site.store.files) {
      if (!path.endsWith(".html")) continue;
      const { headers } = await site.app.call(`/${path.replace(/\/?index\.html$/, "")}`);
      expect(headers.get("content-type"), path).toBe(type ?? "");
      expect(headers.get("cache-control"), path).toBe(cacheControl ?? "");
    }
    expect(site.store.files.get("mirror.json")?.cacheControl).toBe("public, max-age=15");
  });

  test("every link of a copy leads to another copy or is a whole address", async () => {
    await using site = await createShop();
    expect(brokenLinks(site)).toEqual([]);
  });

  test("a copy of a page with many components has the days of all of them, since it lacks the pages of groups", async () => {
    await using site = await createMirrorSite();
    const ids = await createManyComponents(site.app, { groups: 4, each: 8 });
    await reportOn(site.app, ids, { Website: "major_outage" });
    await site.pass(0);
    expect(brokenLinks(site)).toEqual([]);
    const copy = readHtml(site.read("status/many/index.html"));
    expect(copy.texts("#troubled .component strong")).toEqual(["Website"]);
    expect(copy.attributes(".groups .day-chart", "role")).toHaveLength(33);
    expect(copy.texts(".groups caption")).toHaveLength(33);
    expect(copy.attributes("a", "href").filter((href) => href.includes("/groups/"))).toEqual([]);
  });

  test("the sample page of a first start is copied with whole links", async () => {
    await using site = await createMirrorSite();
    const { ctx } = site.app;
    await storeFirstRun(ctx);
    await site.pass(0);
    expect(brokenLinks(site)).toEqual([]);
    const links = readHtml(site.read("index.html")).attributes(".notice a", "href");
    expect(links).toEqual(["https://status.test/admin", "https://status.test/docs"]);
  });

  test("what a copy lacks is linked at its live address", async () => {
    await using site = await createShop();
    const history = readHtml(site.read("status/shop/history/index.html"));
    const live = "https://status.test/status/shop";
    expect(history.attributes("a[rel=prev]", "href")).toEqual([`${live}/history?month=2026-02`]);
    const home = readHtml(site.read("status/shop/index.html"));
    expect(home.attributes(".strip a", "href")).toEqual([live]);
    const entries = home.attributes("#past a[href*='/incidents/']", "href");
    const { ids } = site;
    expect(entries).toContain(`/status/shop/incidents/${ids["Past 40"]}`);
    expect(entries).toContain(`${live}/incidents/${ids["Past 55"]}`);
  });

  test("a copy says when it was made, and has its policy but no refresh", async () => {
    await using site = await createShop();
    for (const path of site.paths().filter((each) => each.endsWith(".html"))) {
      const html = site.read(path);
      const page = readHtml(html);
      expect(page.texts("[data-made-at]"), path).toEqual(["Copy made 12:00 UTC on 10 Mar 2026"]);
      expect(page.attributes("[data-made-at]", "datetime")).toEqual(["2026-03-10T12:00:00.000Z"]);
      const [policy = ""] = page.attributes("meta[http-equiv=Content-Security-Policy]", "content");
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("frame-ancestors");
      expect(html).not.toContain("data-live=");
    }
    const live = await site.app.call("/status/shop");
    expect(live.text).not.toContain("data-made-at");
    expect(live.text).not.toContain("http-equiv");
  });

  test("the page for subscribers has a link instead of the form", async () => {
    await using site = await createMirrorSite({
      env: { ALLCLEAR_SMTP_HOST: "mail.test", ALLCLEAR_MAIL_FROM: "status@example.com" },
    });
    await site.app.page({ slug: "shop", name: "Shop", mail: { subscriptions: true } });
    await site.pass(0);
    expect((await site.app.call("/status/shop/subscribe")).text).toContain("<form");
    const page = readHtml(site.read("status/shop/subscribe/index.html"));
    expect(page.texts("form")).toEqual([]);
    expect(page.attributes("#e-mail a", "href")).toEqual([
      "https://status.test/status/shop/subscribe#e-mail",
    ]);
  });
});

test("the mirror has a page in its own language, with a switch that leads to the live page", async () => {
  await using site = await createMirrorSite();
  const { page } = await site.app.page({ slug: "shop", locale: "de", languages: ["en"] }, ["API"]);
  await site.pass(0);
  const copy = readHtml(site.read("status/shop/index.html"));
  expect(copy.attributes("html", "lang")).toEqual(["de"]);
  expect(copy.texts(".strip a")).toEqual([wordsOf("de").t("copy.live")]);
  expect(copy.attributes(".languages a", "href")).toEqual([
    `https://status.test/status/${page.slug}`,
    `https://status.test/status/${page.slug}?lang=en`,
  ]);
  expect(site.paths().filter((path) => path.includes("lang"))).toEqual([]);
  expect(site.read("status/shop/badge.svg")).toContain(wordsOf("de").t("headline.operational"));
});
