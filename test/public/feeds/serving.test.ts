import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { CLI_ACTOR } from "../../../src/base/actor";
import { expectProblem } from "../../support/app";
import { createFollowedPage, type FollowedPage } from "../../support/feed-site";
import { updatePage } from "../../support/examined";

const TYPES = {
  "feed.atom": "application/atom+xml;charset=utf-8",
  "feed.rss": "application/rss+xml;charset=utf-8",
  "history.atom": "application/atom+xml;charset=utf-8",
  "history.rss": "application/rss+xml;charset=utf-8",
  "calendar.ics": "text/calendar;charset=utf-8",
  "badge.svg": "image/svg+xml;charset=utf-8",
  "badge/ID.svg": "image/svg+xml;charset=utf-8",
  "badge.json": "application/json",
};
const FILES = Object.entries(TYPES);

const at = (file: string, site: FollowedPage) => file.replace("ID", site.api);

async function change(site: FollowedPage, input: { slug?: string; visibility?: "private" }) {
  const { ctx } = site.app;
  await ctx.db.write((tx) => updatePage(ctx, tx, site.pageId, input, CLI_ACTOR));
}

describe.each(FILES)("%s", (file, type) => {
  test("a feed file is public, cacheable and readable by other origins", async () => {
    await using site = await createFollowedPage();
    const answer = await site.read(at(file, site));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("cache-control")).toStartWith("public, max-age=15");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("ratelimit-policy")).toStartWith('"public"');
    const preflight = await site.read(at(file, site), { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
  });

  test("a feed file is 304 for its current ETag", async () => {
    await using site = await createFollowedPage();
    const etag = (await site.read(at(file, site))).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    const headers = { "if-none-match": etag };
    const known = await site.read(at(file, site), { headers });
    expect([known.status, known.text]).toEqual([304, ""]);
    const other = await site.read(at(file, site), { headers: { "if-none-match": '"x"' } });
    expect(other.status).toBe(200);
  });

  test("a feed file of a private or unknown page is not_found, even with a session", async () => {
    await using site = await createFollowedPage();
    const path = at(file, site);
    expect((await site.read(path)).status).toBe(200);
    await change(site, { visibility: "private" });
    expectProblem(await site.read(path), "not_found");
    const session = await site.app.signedIn("owner");
    expect((await site.app.call("/status/acme", { session })).status).toBe(200);
    expectProblem(await site.read(path, { session }), "not_found");
    expectProblem(await site.app.call(`/status/nobody/${path}`), "not_found");
  });

  test("a feed file redirects from an old slug to the new one, also for other origins", async () => {
    await using site = await createFollowedPage();
    await change(site, { slug: "fresh" });
    const answer = await site.read(at(file, site));
    expect(answer.status).toBe(308);
    expect(answer.headers.get("location")).toBe(`/status/fresh/${at(file, site)}`);
    expect(answer.headers.get("cache-control")).toStartWith("public, max-age=15");
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    const { status } = await site.app.call(answer.headers.get("location") ?? "");
    expect(status).toBe(200);
    await change(site, { visibility: "private" });
    expectProblem(await site.read(at(file, site)), "not_found");
  });

  test("a feed file rejects POST with method_not_allowed", async () => {
    await using site = await createFollowedPage();
    const answer = await site.read(at(file, site), { method: "POST" });
    expectProblem(answer, "method_not_allowed");
    expect(answer.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });
});

describe.each(["atom", "rss"])("/history.%s", (ending) => {
  test("/history feeds are those of the default page, and of each page below its slug", async () => {
    await using site = await createFollowedPage();
    await site.open({ name: "On the default page" });
    await site.app.page({ slug: "other", name: "Other" });
    await site.open({ page: "other", name: "On another page" });
    const text = async (path: string) => (await site.app.call(path)).text;
    const feed = await text(`/status/acme/feed.${ending}`);
    expect(feed).toContain("On the default page");
    expect(await text(`/history.${ending}`)).toBe(feed);
    expect(await text(`/status/acme/history.${ending}`)).toBe(feed);
    const other = await text(`/status/other/feed.${ending}`);
    expect(other).toContain("On another page");
    expect(await text(`/status/other/history.${ending}`)).toBe(other);
  });

  test("/history feeds are not_found without a public default page", async () => {
    await using site = await createFollowedPage();
    expect((await site.app.call(`/history.${ending}`)).status).toBe(200);
    await change(site, { visibility: "private" });
    expectProblem(await site.app.call(`/history.${ending}`), "not_found");
  });

  test("/history feeds follow a new slug of the default page without a redirect", async () => {
    await using site = await createFollowedPage();
    await change(site, { slug: "fresh" });
    const answer = await site.app.call(`/history.${ending}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("/status/fresh/");
  });
});

test.each(["feed.atom", "feed.rss", "calendar.ics"])(
  "%s is compressed on request and equal after decompression",
  async (file) => {
    await using site = await createFollowedPage();
    const body = "The same words again. ".repeat(100);
    await site.open({ body });
    await site.plan({ body });
    const request = new Request(`http://status.test/status/acme/${file}`, {
      headers: { "accept-encoding": "gzip" },
    });
    const packed = await site.app.app.handle(request, () => "203.0.113.7");
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    const bytes = new Uint8Array(await packed.arrayBuffer());
    const plain = await site.read(file);
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(gunzipSync(bytes).toString()).toBe(plain.text);
    expect(bytes.byteLength).toBeLessThan(plain.text.length / 2);
  },
);

test("feed files are served without the database between changes", async () => {
  await using site = await createFollowedPage();
  await site.open();
  await site.plan();
  const paths = FILES.map(([file]) => at(file, site));
  const first: string[] = [];
  for (const path of paths) first.push((await site.read(path)).text);
  const { ctx } = site.app;
  const { db } = ctx;
  Object.assign(ctx, { db: undefined });
  const again: string[] = [];
  for (const path of paths) again.push((await site.read(path)).text);
  Object.assign(ctx, { db });
  expect(again).toEqual(first);
});
