import { describe, expect, test } from "bun:test";
import { deletePage } from "../../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, expectProblem } from "../../support/app";
import { createPage, updatePage } from "../../support/examined";

describe("GET /api/v1/status/{slug}", () => {
  test("a key with read:status can read the status document", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", name: "Acme", description: "All of it" }, ["API", "Website"]);
    const key = await app.keyWith("read:status");
    const answer = await app.call("/api/v1/status/acme", { key });
    expect(answer.status).toBe(200);
    expect(answer.body.page).toMatchObject({
      slug: "acme",
      name: "Acme",
      description: "All of it",
      url: "https://status.test/status/acme",
      default: true,
      sample: false,
    });
    expect(answer.body.status).toEqual({
      indicator: "none",
      description: "All Systems Operational",
    });
    const [group] = answer.body.groups;
    expect(group).toMatchObject({ name: "Core", collapse: "expanded" });
    expect(answer.body.components).toMatchObject([
      { name: "API", group_id: group.id, status: "operational" },
      { name: "Website", group_id: group.id, status: "operational" },
    ]);
    expect(answer.body).toMatchObject({ incidents: [], maintenance: [] });
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("the status document of an unknown slug or deleted page is not_found", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "acme" });
    const key = await app.keyWith("read:status");
    expectProblem(await app.call("/api/v1/status/nobody", { key }), "not_found");
    expectProblem(await app.call("/api/v1/status/%zz", { key }), "not_found");
    expect((await app.call("/api/v1/status/acme", { key })).status).toBe(200);
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, page.id, CLI_ACTOR));
    expectProblem(await app.call("/api/v1/status/acme", { key }), "not_found");
  });

  test("the status document is served under an old slug, which cannot be used by another page", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "old" });
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "fresh" }, CLI_ACTOR));
    const key = await app.keyWith("read:status");
    for (const slug of ["old", "fresh"]) {
      const answer = await app.call(`/api/v1/status/${slug}`, { key });
      expect(answer.body.page.slug).toBe("fresh");
    }
    const taken = app.ctx.db.write((tx) =>
      createPage(app.ctx, tx, { slug: "old", name: "Other" }, CLI_ACTOR),
    );
    expect(taken).rejects.toThrow("The slug old is taken.");
  });

  test("the status document of a private page needs a key", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "inside", visibility: "private" });
    const key = await app.keyWith("read:status");
    const answer = await app.call("/api/v1/status/inside", { key });
    expect(answer.body.page.visibility).toBe("private");
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    expectProblem(await app.call("/status/inside"), "not_found");
    expect((await app.call("/")).text).not.toContain("inside");
  });

  test("the status document is 304 for its current ETag, which changes with the page", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const key = await app.keyWith("read:status");
    const first = await app.call("/api/v1/status/acme", { key });
    const etag = first.headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    const again = await app.call("/api/v1/status/acme", { key, headers });
    expect(again.status).toBe(304);
    expect(again.text).toBe("");
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { name: "New" }, CLI_ACTOR));
    const changed = await app.call("/api/v1/status/acme", { key, headers });
    expect(changed.body.page.name).toBe("New");
  });

  test("the status document is read between changes without a database query", async () => {
    await using app = await createTestApp();
    await app.page();
    const key = await app.keyWith("read:status");
    const first = await app.call("/api/v1/status/acme", { key });
    const { statements } = app.ctx.db;
    statements.prepared = () => {
      throw new Error("the database was read");
    };
    const second = await app.call("/api/v1/status/acme", { key });
    expect(second.text).toBe(first.text);
  });
});

describe("GET /api/v1/status", () => {
  test("GET /api/v1/status lists all pages with their headlines, including private ones", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({ slug: "one" }, ["API"]);
    await app.page({ slug: "two", visibility: "private" }, ["Web"]);
    const key = await app.keyWith("read:status", "write:components");
    const json = { status: "major_outage" };
    await app.call(`/api/v1/components/${components.API}`, { method: "PATCH", key, json });
    const answer = await app.call("/api/v1/status", { key });
    expect(answer.body).toMatchObject({
      data: [
        { page: { slug: "two" }, status: { indicator: "none" } },
        { page: { slug: "one" }, status: { indicator: "critical" } },
      ],
      next_cursor: null,
    });
  });
});
