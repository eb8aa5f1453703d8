import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { pageMark } from "../../../src/imports/pages";
import { findPageBySlug, type PageRow } from "../../../src/features/pages/store";
import { crc32 } from "../../../src/base/hash";
import { createTestApp, type TestApp } from "../../support/app";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { apply, applyError, linesOf } from "../../support/apply";
import { updatePage } from "../../support/examined";

const exported = ({ ctx }: TestApp) => ctx.db.write((tx) => writeApplyFile(exportFile(tx), []));

test("the page resource has the minutes in which outages join: 10, until they are changed", async () => {
  await using app = await createTestApp();
  const { ctx } = app;
  const { page } = await app.page();
  const key = await app.keyWith("read:status");
  const shown = async () => {
    const [listed] = (await app.call("/api/v1/status", { key })).body.data;
    const status = await app.call("/api/v1/status/acme", { key });
    return [listed.page.join_minutes, status.body.page.join_minutes];
  };
  expect(await shown()).toEqual([10, 10]);
  for (const minutes of [0, 1_440]) {
    // In order, since each change is read before the next.
    // oxlint-disable-next-line no-await-in-loop
    await ctx.db.write((tx) => updatePage(ctx, tx, page.id, { join_minutes: minutes }, CLI_ACTOR));
    // oxlint-disable-next-line no-await-in-loop
    expect(await shown()).toEqual([minutes, minutes]);
  }
  await ctx.db.write((tx) => updatePage(ctx, tx, page.id, { name: "Renamed" }, CLI_ACTOR));
  expect(await shown()).toEqual([1_440, 1_440]);
});

test("a file sets the minutes in which outages join, an export has them, and leaving them out restores 10", async () => {
  await using app = await createTestApp();
  const file = "pages: [{ slug: acme, name: Acme, join_minutes: 45 }]";
  const stored = () => findPageBySlug(app.ctx.db, { slug: "acme" })?.joinMinutes;
  await apply(app, file);
  expect(stored()).toBe(45);
  expect((await apply(app, file)).changes).toEqual([]);
  expect(await exported(app)).toContain("join_minutes: 45\n");
  expect((await apply(app, await exported(app))).changes).toEqual([]);
  expect(linesOf(await apply(app, "pages: [{ slug: acme, name: Acme }]"))).toEqual([
    "~ page acme: join_minutes 45 → 10",
  ]);
  expect(stored()).toBe(10);
  expect(await exported(app)).not.toContain("join_minutes");
  for (const wrong of ["1441", "-1", "1.5", "ten"]) {
    // oxlint-disable-next-line no-await-in-loop
    expect(await applyError(app, file.replace("45", wrong))).toContain("join_minutes");
  }
});

test("a page that was imported before the setting existed still has the checksum of that time", async () => {
  await using app = await createTestApp();
  const { page } = await app.page({ name: "Imported" });
  const row = findPageBySlug(app.ctx.db, { slug: page.slug }) as PageRow;
  const { slug, name, description, timeZone, locale, visibility, theme, accent, logo } = row;
  const texts = [slug, name, description, timeZone, locale, visibility, theme, accent, logo];
  const { historyDays, customDomains, compat, mail } = row;
  const then = crc32(JSON.stringify([texts, historyDays, customDomains, compat, mail]));
  expect(pageMark(row)).toBe(then);
  expect(pageMark({ ...row, joinMinutes: 11 })).not.toBe(then);
});
