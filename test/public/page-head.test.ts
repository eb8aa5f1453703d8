import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem } from "../support/app";
import { visit } from "../support/domains";
import { readHtml } from "../support/html";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { updatePage } from "../support/examined";

const DOMAIN = "status.acme.example";
const meta = (text: string, name: string) =>
  readHtml(text).attributes(`meta[property="${name}"], meta[name="${name}"]`, "content");

/** Expects the picture of a tone in the head of a page, which caches may keep, and returns its path. */
async function pictureOf({ app }: Pick<PublicSite, "app">, tone: string): Promise<string> {
  const paths = await Promise.all(
    ["", "/history", "/subscribe"].map(async (path) => {
      const { text } = await app.call(`/status/acme${path}`);
      const [image = ""] = meta(text, "og:image");
      expect(image).toStartWith("https://status.test/");
      return new URL(image).pathname;
    }),
  );
  const [path = ""] = paths;
  expect(new Set(paths).size).toBe(1);
  expect(path).toMatch(new RegExp(`^/assets/preview-${tone}\\.[0-9a-f]{16}\\.png$`));
  const { status, headers } = await app.call(path);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("image/png");
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(Number(headers.get("content-length"))).toBeLessThan(25_000);
  return path;
}

describe("the head of public documents", () => {
  test("messengers get title, description, address and a picture of this server", async () => {
    await using site = await createPublicSite({ name: "Acme", description: "All of it" });
    const { text } = await site.app.call("/status/acme");
    expect(meta(text, "og:title")).toEqual(readHtml(text).texts("head title"));
    expect(meta(text, "og:description")).toEqual(["All of it"]);
    expect(meta(text, "description")).toEqual(["All of it"]);
    expect(meta(text, "og:site_name")).toEqual(["Acme"]);
    expect(meta(text, "og:url")).toEqual(["https://status.test/status/acme"]);
    expect(meta(text, "og:image:alt")).toEqual(["All systems operational"]);
    expect(meta(text, "twitter:card")).toEqual(["summary_large_image"]);
  });

  test("the picture for messengers follows the headline of the page, on each of its documents", async () => {
    await using site = await createPublicSite();
    const { app, ids, key } = site;
    const component = `/api/v1/components/${ids["API"]}`;
    const seen = new Set<string>();
    for (const [status, tone] of [
      ["operational", "ok"],
      ["degraded_performance", "degraded"],
      ["partial_outage", "partial"],
      ["major_outage", "major"],
    ]) {
      await app.call(component, { method: "PATCH", key, json: { status } });
      seen.add(await pictureOf(site, tone ?? ""));
    }
    await app.call(component, { method: "PATCH", key, json: { status: "operational" } });
    const components = [ids["API"] ?? ""];
    const { id } = await site.plan("2026-03-10T12:10:00Z", "2026-03-10T13:00:00Z", { components });
    await site.updateMaintenance(id, { status: "in_progress" });
    seen.add(await pictureOf(site, "maint"));
    expect(seen.size).toBe(5);
  });

  test("a page without components has a picture that does not say that all is well", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" }, []);
    await pictureOf({ app }, "none");
  });

  test("each document has a canonical address and a description of its own", async () => {
    await using site = await createPublicSite({ name: "Acme" });
    const { id } = await site.open({ name: "Search is slow", body: "We look into **it**." });
    for (const [path, description] of [
      ["", "Current status, incidents and planned maintenance of Acme."],
      [`/incidents/${id}`, "We look into it."],
      ["/history?month=2026-03", "Current status, incidents and planned maintenance of Acme."],
      [
        "/subscribe",
        "Follow incidents and maintenance of Acme by feed, in Slack or in a calendar.",
      ],
    ]) {
      const { text } = await site.app.call(`/status/acme${path}`);
      expect(meta(text, "description"), path).toEqual([description ?? ""]);
      const [canonical = ""] = readHtml(text).attributes('link[rel="canonical"]', "href");
      expect(canonical).toBe(`https://status.test/status/acme${path}`);
      expect(meta(text, "og:url")).toEqual([canonical]);
    }
  });

  test("a private page has no address for messengers and is not for search engines", async () => {
    await using site = await createPublicSite({ visibility: "private" });
    const session = await site.app.signedIn("viewer");
    const { text } = await site.app.call("/status/acme", { session });
    expect(text).not.toContain("og:");
    expect(readHtml(text).attributes('link[rel="canonical"]', "href")).toEqual([]);
    expect(meta(text, "robots")).toEqual(["noindex"]);
    await using open = await createPublicSite();
    expect(meta((await open.app.call("/status/acme")).text, "robots")).toEqual([]);
  });

  test("addresses in the head start with the custom domain, which serves the picture", async () => {
    await using site = await createPublicSite({ custom_domains: [DOMAIN] });
    const { text } = await visit(site.app, DOMAIN, "/");
    const [image = ""] = meta(text, "og:image");
    expect(image).toStartWith(`https://${DOMAIN}/assets/`);
    expect((await visit(site.app, DOMAIN, new URL(image).pathname)).status).toBe(200);
    expect(meta(text, "og:url")).toEqual([`https://${DOMAIN}/status/acme`]);
  });

  test("the colour of the browser's frame is that of the page's ground in each theme", async () => {
    await using site = await createPublicSite();
    const { app, page } = site;
    const colours = async () => meta((await app.call("/status/acme")).text, "theme-color");
    expect(await colours()).toEqual(["#fbfcfa", "#0f1512"]);
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { theme: "dark" }, CLI_ACTOR));
    expect(await colours()).toEqual(["#0f1512"]);
  });
});

describe("files by fixed names", () => {
  test.each([
    ["/robots.txt", "text/plain;charset=utf-8"],
    ["/favicon.ico", "image/x-icon"],
    ["/apple-touch-icon.png", "image/png"],
  ])("%s is served on every host and not charged to a rate limit", async (path, mediaType) => {
    await using app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1" } });
    await app.page({ slug: "acme", custom_domains: [DOMAIN] });
    const answer = await app.call(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(mediaType);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=86400");
    const headers = { "if-none-match": answer.headers.get("etag") ?? "" };
    expect((await app.call(path, { headers })).status).toBe(304);
    expect((await visit(app, DOMAIN, path)).status).toBe(200);
  });

  test("robots.txt keeps search engines from the dashboard and the API and names no page", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "secret", visibility: "private" });
    const { text } = await app.call("/robots.txt");
    expect(text).toBe("User-agent: *\nDisallow: /admin\nDisallow: /api/\n");
    expectProblem(await app.call("/status/secret"), "not_found");
    expectProblem(await app.call("/status/robots.txt"), "not_found");
  });
});
