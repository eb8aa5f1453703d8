import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, expectProblem } from "../../support/app";
import { createPublicSite } from "../../support/public-site";
import { updatePage } from "../../support/examined";

const DOCUMENTS = [
  "summary",
  "status",
  "components",
  "incidents",
  "incidents/unresolved",
  "scheduled-maintenances",
  "scheduled-maintenances/upcoming",
  "scheduled-maintenances/active",
];
const PATHS = DOCUMENTS.map((document) => `api/v2/${document}.json`);

describe("Statuspage's documents", () => {
  test("Statuspage's documents at /api/v2/ are the default page's, and each page has its own", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "one", name: "One" }, []);
    await app.page({ slug: "two", name: "Two" }, []);
    for (const path of PATHS) {
      expect((await app.call(`/${path}`)).body.page.name).toBe("One");
      expect((await app.call(`/status/one/${path}`)).body.page.name).toBe("One");
      expect((await app.call(`/status/two/${path}`)).body.page.name).toBe("Two");
    }
  });

  test("Statuspage's documents are cacheable, readable by other origins and 304 until a change", async () => {
    await using site = await createPublicSite();
    for (const path of [...PATHS, "summary.json"].map((below) => `/status/acme/${below}`)) {
      const first = await site.app.call(path);
      expect(first.headers.get("cache-control")).toStartWith("public, max-age=15");
      expect(first.headers.get("access-control-allow-origin")).toBe("*");
      const preflight = await site.app.call(path, { method: "OPTIONS" });
      expect(preflight.status).toBe(204);
      const headers = { "if-none-match": first.headers.get("etag") ?? "" };
      expect((await site.app.call(path, { headers })).status).toBe(304);
      await site.app.ctx.db.write((tx) =>
        updatePage(site.app.ctx, tx, site.page.id, { name: `A${path}` }, CLI_ACTOR),
      );
      await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
      await site.app.clock.advance(1);
      expect((await site.app.call(path, { headers })).status).toBe(200);
    }
  });

  test("Statuspage's documents of a private page are not_found for every caller", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", visibility: "private" });
    const session = await app.signedIn("owner");
    const key = await app.keyWith("read:status");
    const paths = PATHS.flatMap((path) => [`/${path}`, `/status/inside/${path}`]);
    for (const path of [...paths, "/status/inside/summary.json"]) {
      for (const caller of [{}, { session }, { key }]) {
        expectProblem(await app.call(path, caller), "not_found");
      }
    }
    expect((await app.call("/api/v1/status/inside", { key })).status).toBe(200);
  });

  test("Statuspage's documents are not_found for unknown pages and documents", async () => {
    await using app = await createTestApp();
    expectProblem(await app.call("/api/v2/status.json"), "not_found");
    expectProblem(await app.call("/status/nobody/api/v2/status.json"), "not_found");
    await app.page({ slug: "acme" });
    expect((await app.call("/api/v2/status.json")).status).toBe(200);
    expectProblem(await app.call("/api/v2/subscribers.json"), "not_found");
  });

  test("Statuspage's documents are served under an old slug, with the current address", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "old" });
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "fresh" }, CLI_ACTOR));
    const { status, body } = await app.call("/status/old/api/v2/status.json");
    expect(status).toBe(200);
    expect(body.page.url).toBe("https://status.test/status/fresh");
    expect((await app.call("/status/old/summary.json")).status).toBe(200);
  });

  test("Statuspage's documents are built once per change and read without the database", async () => {
    await using site = await createPublicSite();
    const paths = PATHS.map((path) => `/status/acme/${path}`);
    const first = await Promise.all(paths.map((path) => site.app.call(path)));
    const { statements } = site.app.ctx.db;
    statements.prepared = () => {
      throw new Error("the database was read");
    };
    for (const [index, path] of paths.entries()) {
      expect((await site.app.call(path)).text).toBe(first[index]?.text ?? "");
    }
  });
});
