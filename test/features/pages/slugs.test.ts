import { describe, expect, test } from "bun:test";
import { listOldSlugs, releaseSlug } from "../../../src/features/pages/pages";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";
import { updatePage } from "../../support/examined";

const rename = (app: TestApp, id: string, slug: string) =>
  app.ctx.db.write((tx) => updatePage(app.ctx, tx, id, { slug }, CLI_ACTOR));

const release = (app: TestApp, id: string, slug: string) =>
  app.ctx.db.write((tx) => releaseSlug(app.ctx, tx, id, slug, CLI_ACTOR));

describe("an old slug", () => {
  test("old slugs are listed newest first, without the current one", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "one" });
    expect(listOldSlugs(app.ctx.db, page)).toEqual([]);
    for (const slug of ["two", "three"]) {
      await app.clock.advance(1_000);
      await rename(app, page.id, slug);
    }
    const slugs = listOldSlugs(app.ctx.db, { id: page.id, slug: "three" });
    expect(slugs.map(({ slug }) => slug)).toEqual(["two", "one"]);
    expect(slugs[0]?.createdAt).toBe(app.clock.now() - 1_000);
  });

  test("a released slug is not_found on the page and by API, and its release is audited", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    const { page } = await app.page({ slug: "old" });
    await rename(app, page.id, "newer");
    expect((await app.call("/api/v1/status/old", { key })).status).toBe(200);
    await release(app, page.id, "old");
    expect((await app.call("/api/v1/status/old", { key })).status).toBe(404);
    expect((await app.call("/status/old")).status).toBe(404);
    expect((await app.call("/api/v1/status/newer", { key })).status).toBe(200);
    expect(app.audit().at(-1)).toMatchObject({
      action: "page.release_slug",
      targetId: page.id,
      summary: "Released the old slug old of the page “Acme”",
    });
  });

  test("only the page itself can release its slug, never the current one, and nothing else is written", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "one" });
    const { page: other } = await app.page({ slug: "other", name: "Other" });
    await rename(app, other.id, "others-new");
    const before = [app.audit(), listOldSlugs(app.ctx.db, { id: other.id, slug: "others-new" })];
    expect((await rejectionOf(release(app, page.id, "one"))).code).toBe("conflict");
    expect((await rejectionOf(release(app, page.id, "other"))).code).toBe("not_found");
    expect((await rejectionOf(release(app, page.id, "never"))).code).toBe("not_found");
    expect((await rejectionOf(release(app, "page_none", "one"))).code).toBe("not_found");
    expect([app.audit(), listOldSlugs(app.ctx.db, { id: other.id, slug: "others-new" })]).toEqual(
      before,
    );
  });
});
