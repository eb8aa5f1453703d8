import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";
import { updatePage } from "../support/examined";

const PATH = "/status/acme/subscribe";

describe("the page with all ways to subscribe", () => {
  test("the page shows each address whole, and every address answers", async () => {
    await using site = await createPublicSite({ name: "Acme" });
    const answer = await site.app.call(PATH);
    expect(answer.status).toBe(200);
    const page = readHtml(answer.text);
    expect(page.texts("head title")).toEqual(["Subscribe · Acme"]);
    expect(page.texts("h1")).toEqual(["Subscribe to Acme"]);
    const at = (file: string) => `https://status.test/status/acme/${file}`;
    expect(page.texts("code")).toEqual([
      at("feed.atom"),
      at("feed.rss"),
      `/feed subscribe ${at("feed.rss")}`,
      at("calendar.ics"),
      at("summary.json"),
      at("api/v2/summary.json"),
      at("badge.svg"),
    ]);
    expect(page.attributes(".way a", "href")).toEqual([
      "webcal://status.test/status/acme/calendar.ics",
    ]);
    for (const text of page.texts("code")) {
      const { pathname } = new URL(text.replace("/feed subscribe ", ""));
      expect((await site.app.call(pathname)).status, pathname).toBe(200);
    }
  });

  test("the page has no e-mail form and is linked from the head and the foot of every page", async () => {
    await using site = await createPublicSite();
    for (const path of ["/", "/status/acme/history", PATH]) {
      const page = readHtml((await site.app.call(path)).text);
      expect(page.attributes(".top .button, .foot a[href$='/subscribe']", "href")).toEqual([
        PATH,
        PATH,
      ]);
      expect(page.attributes("form", "action")).toEqual([]);
    }
  });

  test("buttons that need a script are hidden without it", async () => {
    await using site = await createPublicSite();
    const page = readHtml((await site.app.call(PATH)).text);
    expect(page.attributes("[data-copy]", "hidden")).toHaveLength(page.texts("code").length);
    const [, script = ""] = page.attributes("script", "src");
    expect(script).toMatch(/^\/assets\/copy\.[0-9a-f]{16}\.js$/);
    expect((await site.app.call(script)).status).toBe(200);
  });

  test("the page is cached like the status page and 304 for its current ETag", async () => {
    await using site = await createPublicSite();
    const first = await site.app.call(PATH);
    expect(first.headers.get("cache-control")).toStartWith("public, max-age=15");
    expect(first.headers.get("ratelimit-policy")).toStartWith('"public"');
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    expect((await site.app.call(PATH, { headers })).status).toBe(304);
  });

  test("the addresses on the page start with the custom domain", async () => {
    await using site = await createPublicSite({ custom_domains: ["status.acme.example"] });
    const page = readHtml((await site.app.call(PATH)).text);
    for (const text of page.texts("code")) {
      expect(text.replace("/feed subscribe ", "")).toStartWith(
        "https://status.acme.example/status/acme/",
      );
    }
  });

  test("an earlier slug redirects to the page of the current one", async () => {
    await using site = await createPublicSite();
    const { app, page } = site;
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "fresh" }, CLI_ACTOR));
    const answer = await app.call(PATH);
    expect([answer.status, answer.headers.get("location")]).toEqual([
      308,
      "/status/fresh/subscribe",
    ]);
  });

  test("a private page has no feeds and therefore no such page, and no link to it", async () => {
    await using site = await createPublicSite({ visibility: "private" });
    const session = await site.app.signedIn("viewer");
    expectProblem(await site.app.call(PATH), "not_found");
    expectProblem(await site.app.call(PATH, { session }), "not_found");
    const { text } = await site.app.call("/status/acme", { session });
    expect(text).not.toContain("/subscribe");
    expectProblem(await site.app.call("/status/unknown/subscribe"), "not_found");
  });
});
