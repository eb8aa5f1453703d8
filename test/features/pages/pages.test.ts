import { describe, expect, test } from "bun:test";
import { Problem } from "../../../src/base/errors";
import { deletePage } from "../../../src/features/pages/deletion";
import { findDefaultPage, listAllPages } from "../../../src/features/pages/store";
import type { PageInput } from "../../../src/features/pages/wire";
import { storeFirstRun } from "../../../src/first-run";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { readHtml } from "../../support/html";
import { shareSite } from "../../support/shared-site";
import { createPage, updatePage } from "../../support/examined";

const make = (app: TestApp, input: PageInput) =>
  app.ctx.db.write((tx) => createPage(app.ctx, tx, input, CLI_ACTOR));

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

describe("the sample page", () => {
  test("the sample page is the default one while there is no other, and is flagged", async () => {
    await using app = await createTestApp();
    await storeFirstRun(app.ctx);
    const key = await app.keyWith("read:status");
    const answer = await app.call("/api/v1/status/sample", { key });
    expect(answer.body.page).toMatchObject({ sample: true, default: true });
    const { text } = await app.call("/");
    expect(text).toContain("This is a sample.");
    const notice = readHtml(text).texts(".notice p").join(" ");
    // The secret part of the link is known to those who see the output of the server only.
    expect(notice).toContain(`${app.ctx.baseUrl}/admin/setup/…`);
    expect(notice.indexOf("the dashboard")).toBeLessThan(notice.indexOf("allclear apply"));
  });

  test("the first page replaces the sample page for good and may take its slug", async () => {
    await using app = await createTestApp();
    await storeFirstRun(app.ctx);
    expect((await app.call("/")).text).toContain("Sample status page");
    const page = await make(app, { slug: "sample", name: "Ours" });
    expect(page).toMatchObject({ isDefault: true, isSample: false });
    expect(listAllPages(app.ctx.db, {}).map((row) => row.id)).toEqual([page.id]);
    expect((await app.call("/")).text).toContain("Ours");
    await storeFirstRun(app.ctx);
    expect(listAllPages(app.ctx.db, {})).toHaveLength(1);
  });
});

describe("the default page", () => {
  test("the first page is the default one until another is chosen, and again after that is deleted", async () => {
    await using app = await createTestApp();
    const one = await make(app, { slug: "one", name: "One" });
    const two = await make(app, { slug: "two", name: "Two" });
    expect(findDefaultPage(app.ctx.db, {})?.id).toBe(one.id);
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, two.id, { default: true }, CLI_ACTOR));
    expect(findDefaultPage(app.ctx.db, {})?.id).toBe(two.id);
    expect((await app.call("/")).text).toContain("Two");
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, two.id, CLI_ACTOR));
    expect(findDefaultPage(app.ctx.db, {})?.id).toBe(one.id);
  });
});

describe("validation of a page", () => {
  const shared = shareSite(createTestApp);

  test.each<[Partial<PageInput>, string[]]>([
    [{ slug: "api" }, ["#/slug"]],
    [{ slug: "admin" }, ["#/slug"]],
    [{ slug: ".." }, ["#/slug"]],
    [{ slug: "Acme" }, ["#/slug"]],
    [{ slug: "-a" }, ["#/slug"]],
    [{ slug: "a".repeat(64) }, ["#/slug"]],
    [{ name: "" }, ["#/name"]],
    [{ name: " " }, ["#/name"]],
    [{ name: "x".repeat(256) }, ["#/name"]],
    [{ name: "a\u202eb" }, ["#/name"]],
    [{ name: "a\nb" }, ["#/name"]],
    [{ time_zone: "Mars/Olympus" }, ["#/time_zone"]],
    [{ locale: "not a tag" }, ["#/locale"]],
    [{ accent: "red" }, ["#/accent"]],
    [{ history_days: 29 }, ["#/history_days"]],
    [{ history_days: 366 }, ["#/history_days"]],
    [{ join_minutes: -1 }, ["#/join_minutes"]],
    [{ join_minutes: 1_441 }, ["#/join_minutes"]],
    [{ join_minutes: 1.5 }, ["#/join_minutes"]],
    [{ compat: ["cachet" as "uptime-kuma"] }, ["#/compat/0"]],
    [{ compat: ["uptime-kuma", "uptime-kuma"] }, ["#/compat"]],
    [{ slug: "api", name: "", time_zone: "Mars" }, ["#/name", "#/slug", "#/time_zone"]],
  ])("an invalid page is rejected, and nothing is written: %j", async (input, pointers) => {
    const app = await shared();
    const problem = await problemOf(make(app, { slug: "acme", name: "Acme", ...input }));
    expect(problem.code).toBe("validation_failed");
    expect(problem.fields.map((field) => field.pointer).toSorted()).toEqual(pointers);
    expect(listAllPages(app.ctx.db, {})).toEqual([]);
    expect(app.audit()).toEqual([]);
  });

  test("a page with a used slug is a conflict", async () => {
    await using app = await createTestApp();
    await make(app, { slug: "acme", name: "Acme" });
    const problem = await problemOf(make(app, { slug: "acme", name: "Other" }));
    expect(problem).toMatchObject({ code: "conflict", message: "The slug acme is taken." });
    expect(app.audit()).toHaveLength(1);
  });

  test("a page's name can consist of emoji", async () => {
    await using app = await createTestApp();
    const page = await make(app, { slug: "party", name: "🎉".repeat(255) });
    expect(page.ref).toBe("party");
  });
});
