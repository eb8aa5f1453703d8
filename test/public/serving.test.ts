import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { createPublicSite } from "../support/public-site";
import { updatePage } from "../support/examined";

describe("the public page", () => {
  test("the public page shows the status document, with a policy that allows no other origin", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", name: "Acme" }, ["Checkout"]);
    const answer = await app.call("/status/acme");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html;charset=utf-8");
    expect(answer.text).toContain("<title>All systems operational · Acme</title>");
    expect(answer.text).toContain("Checkout");
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(answer.headers.get("cache-control")).toStartWith("public, max-age=15");
    expect((await app.call("/")).text).toBe(answer.text);
  });

  test("the public page is rendered once per change and 304 for its current ETag", async () => {
    await using site = await createPublicSite();
    const { app } = site;
    const first = await app.call("/status/acme");
    await app.clock.advance(60_000);
    const second = await app.call("/status/acme");
    expect(second.text).toBe(first.text);
    const etag = first.headers.get("etag") ?? "";
    const again = await app.call("/status/acme", { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    await site.open();
    expect((await app.call("/status/acme")).text).not.toBe(first.text);
  });

  test("the banner of the public page contains the time of its data", async () => {
    await using site = await createPublicSite();
    await site.app.clock.advance(30 * 60_000);
    const { text } = await site.app.call("/status/acme");
    const [banner] = readHtml(text).texts("#banner");
    expect(banner).toBe(
      "All systems operationalEverything works as usual.3 operationalAs of 10 Mar 2026, 12:30 UTC",
    );
  });

  test("an old slug redirects to the new one, also for paths below it", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "old" });
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "fresh" }, CLI_ACTOR));
    for (const rest of ["", "/history?month=2026-02", "/incidents/inc_x", "/maintenance/mnt_x"]) {
      const answer = await app.call(`/status/old${rest}`);
      expect(answer.status).toBe(308);
      expect(answer.headers.get("location")).toBe(`/status/fresh${rest}`);
      // Not for ever: the page may take its old slug back.
      expect(answer.headers.get("cache-control")).toStartWith("public, max-age=15");
    }
  });

  test("an unknown page is not_found, and an empty installation shows instructions", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/status/nobody"), "not_found");
    expect((await app.call("/")).text).toContain("allclear apply");
  });

  test("a not_found page below a slug links back and does not reveal a private page", async () => {
    await using site = await createPublicSite({ visibility: "private" });
    const headers = { accept: "text/html" };
    const hidden = await site.app.call("/status/acme/incidents/inc_x", { headers });
    const unknown = await site.app.call("/status/other/incidents/inc_x", { headers });
    expect(hidden.status).toBe(404);
    const page = readHtml(hidden.text);
    expect(page.texts("h1")).toEqual(["Not found"]);
    expect(page.attributes("a", "href")).toEqual(["/status/acme"]);
    const nameless = (text: string) => text.replaceAll(/acme|other|req_\w+/g, "");
    expect(nameless(unknown.text)).toBe(nameless(hidden.text));
  });
});
