import { describe, expect, test } from "bun:test";
import { deletePage } from "../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../src/base/actor";
import { anotherProcess } from "../support/second-connection";
import { createTestApp, expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { temporaryFolder } from "../support/temporary-folder";
import { updatePage } from "../support/examined";

const DOCUMENT = "/api/v2/status.json";

/** Two public pages, of which the first is the default, and the name of the one at `/` and at `/api/v2/`. */
async function createPages(databasePath = ":memory:") {
  const app = await createTestApp({ databasePath });
  const { page: one } = await app.page({ slug: "one", name: "One" }, []);
  const { page: two } = await app.page({ slug: "two", name: "Two" }, []);
  return {
    app,
    one,
    two,
    async names() {
      const home = readHtml((await app.call("/")).text).texts(".brand")[0];
      const { body } = await app.call(DOCUMENT);
      return [home, body.page?.name];
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("the default page", () => {
  test("the default page is served between changes without a database query", async () => {
    await using pages = await createPages();
    expect(await pages.names()).toEqual(["One", "One"]);
    pages.app.ctx.db.statements.prepared = () => {
      throw new Error("the database was read");
    };
    expect(await pages.names()).toEqual(["One", "One"]);
  });

  test("the default page changes at the next request after another one is set or it is deleted", async () => {
    await using pages = await createPages();
    const { app, one, two } = pages;
    expect(await pages.names()).toEqual(["One", "One"]);
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, two.id, { default: true }, CLI_ACTOR));
    expect(await pages.names()).toEqual(["Two", "Two"]);
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, two.id, CLI_ACTOR));
    expect(await pages.names()).toEqual(["One", "One"]);
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, one.id, CLI_ACTOR));
    expectProblem(await app.call(DOCUMENT), "not_found");
    expect((await app.call("/")).text).toContain("There is no public status page here yet.");
  });

  test("the default page changes after another process has set another one", async () => {
    using folder = temporaryFolder();
    const databasePath = `${folder.path}/allclear.db`;
    await using pages = await createPages(databasePath);
    const { app, two } = pages;
    expect(await pages.names()).toEqual(["One", "One"]);
    await using command = anotherProcess(app, databasePath);
    const { ctx } = command;
    await ctx.db.write((tx) => updatePage(ctx, tx, two.id, { default: true }, CLI_ACTOR));
    app.ctx.signals.databaseChangedElsewhere.emit();
    expect(await pages.names()).toEqual(["Two", "Two"]);
  });

  test("a private default page is not shown at / until it is public again", async () => {
    await using pages = await createPages();
    const { app, one } = pages;
    expect(await pages.names()).toEqual(["One", "One"]);
    const become = (visibility: "public" | "private") =>
      app.ctx.db.write((tx) => updatePage(app.ctx, tx, one.id, { visibility }, CLI_ACTOR));
    await become("private");
    expect((await app.call("/")).text).toContain("There is no public status page here yet.");
    expectProblem(await app.call(DOCUMENT), "not_found");
    await become("public");
    expect(await pages.names()).toEqual(["One", "One"]);
  });
});
