import { describe, expect, test } from "bun:test";
import { deleteLogo, putLogo } from "../../src/features/pages/logo";
import { logoPath } from "../../src/features/pages/addresses";
import type { PageRow } from "../../src/features/pages/store";
import { CLI_ACTOR } from "../../src/base/actor";
import { createContext } from "../../src/installation";
import { createTestApp, expectMissingPart, expectProblem, type TestApp } from "../support/app";
import { visit } from "../support/domains";
import { readHtml } from "../support/html";
import { png } from "../support/pictures";
import { createPublicSite } from "../support/public-site";
import { updatePage } from "../support/examined";

const WIDE = png(960, 160, 4_096);

const put = (app: TestApp, id: string, bytes = WIDE) =>
  app.ctx.db.write((tx) => putLogo(app.ctx, tx, id, { bytes }, CLI_ACTOR));
/** The pictures of a page, each by its attributes. */
function imagesOf(html: string): Record<string, string | undefined>[] {
  const page = readHtml(html);
  const [src = [], alt = [], width = [], height = []] = ["src", "alt", "width", "height"].map(
    (name) => page.attributes("img", name),
  );
  return src.map((path, n) => ({ src: path, alt: alt[n], width: width[n], height: height[n] }));
}

const pathOf = (page: PageRow) => logoPath(page) ?? "no logo";

describe("a page's logo", () => {
  test("a logo replaces the page's name on all its documents, with alternative text and size", async () => {
    await using site = await createPublicSite({ name: "Acme & Sons" });
    const { app } = site;
    const incident = await site.open();
    const before = await app.call("/status/acme");
    expect(before.text).not.toContain("<img");
    const path = pathOf(await put(app, site.page.id));
    for (const below of ["", "/history", `/incidents/${incident.id}`]) {
      const answer = await app.call(`/status/acme${below}`);
      const [logo, ...more] = imagesOf(answer.text);
      expect(more).toEqual([]);
      expect(logo).toMatchObject({ src: path, alt: "Acme & Sons", width: "240", height: "40" });
      expect(answer.headers.get("content-security-policy")).toContain("img-src 'self'");
    }
    await app.ctx.db.write((tx) => deleteLogo(app.ctx, tx, site.page.id, CLI_ACTOR));
    expect((await app.call("/status/acme")).text).not.toContain("<img");
  });

  test("a logo is never shown larger than its own size", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    await put(app, page.id, png(16, 12));
    const [logo] = imagesOf((await app.call("/status/acme")).text);
    expect(logo).toMatchObject({ width: "16", height: "12" });
  });

  test("a logo is sent unchanged, cached forever and not charged to a rate limit", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const path = pathOf(await put(app, page.id));
    const request = new Request(`http://status.test${path}`, {
      headers: { "accept-encoding": "gzip" },
    });
    const answer = await app.app.handle(request, () => "203.0.113.7");
    expect(Buffer.from(await answer.arrayBuffer()).equals(WIDE)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'",
    });
    expect(answer.headers.get("ratelimit")).toBeNull();
    expect(answer.headers.get("content-encoding")).toBeNull();
    const etag = answer.headers.get("etag") ?? "";
    const again = await app.call(path, { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
  });

  test("a new logo has a new address, and the old address is not_found", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const first = pathOf(await put(app, page.id));
    expect((await app.call(first)).status).toBe(200);
    const second = pathOf(await put(app, page.id, png(960, 161)));
    expect(second).not.toBe(first);
    expect((await app.call(second)).status).toBe(200);
    const gone = await app.call(first);
    expectMissingPart(gone);
    expect(gone.headers.get("ratelimit")).not.toBeNull();
  });

  test("a logo's URL is in the API, and its old slug still works", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const key = await app.keyWith("read:status");
    const logoNow = async () => (await app.call("/api/v1/status/acme", { key })).body.page.logo;
    expect(await logoNow()).toBeNull();
    const path = pathOf(await put(app, page.id));
    expect(await logoNow()).toBe(`https://status.test${path}`);
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "neu" }, CLI_ACTOR));
    expect(await logoNow()).toBe(`https://status.test${path.replace("acme", "neu")}`);
    expect((await app.call(path)).status).toBe(200);
  });

  test("a logo's address is not_found if another process has changed the logo", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const path = pathOf(await put(app, page.id));
    await app.call("/status/acme");
    const elsewhere = createContext(app.ctx);
    await app.ctx.db.write((tx) =>
      putLogo(elsewhere, tx, page.id, { bytes: png(5, 5) }, CLI_ACTOR),
    );
    expectMissingPart(await app.call(path));
  });

  test("a logo is served on its page's custom domain, and another page's is not", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "acme", custom_domains: ["acme.example"] });
    const { page: other } = await app.page({ slug: "other", name: "Other" });
    const path = pathOf(await put(app, page.id));
    const foreign = pathOf(await put(app, other.id));
    const home = await visit(app, "acme.example", "/");
    expect(imagesOf(home.text)[0]?.["src"]).toBe(path);
    expect((await visit(app, "acme.example", path)).status).toBe(200);
    expect((await visit(app, "acme.example", foreign)).status).toBe(404);
    expect((await app.call(foreign)).status).toBe(200);
  });

  test("a private page's logo needs a session and is not cached", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ visibility: "private" });
    const path = pathOf(await put(app, page.id));
    expectProblem(await app.call(path), "not_found");
    const session = await app.signedIn("viewer");
    const answer = await app.call(path, { session });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(imagesOf((await app.call("/status/acme", { session })).text)[0]?.["src"]).toBe(path);
  });
});
