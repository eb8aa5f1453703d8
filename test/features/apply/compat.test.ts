import { expect, test } from "bun:test";
import { findPageBySlug } from "../../../src/features/pages/store";
import { createTestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";

test("a file chooses the clients of other products of a page, and a second run changes nothing", async () => {
  await using app = await createTestApp();
  const file = "pages: [{ slug: acme, name: Acme, compat: [uptime-kuma] }]";
  const stored = () => findPageBySlug(app.ctx.db, { slug: "acme" })?.compat;
  await apply(app, file);
  expect(stored()).toEqual(["uptime-kuma"]);
  expect((await apply(app, file)).changes).toEqual([]);
  expect(linesOf(await apply(app, "pages: [{ slug: acme, name: Acme }]"))).toEqual([
    '~ page acme: compat ["uptime-kuma"] → []',
  ]);
  expect(stored()).toEqual([]);
  expect(() => apply(app, file.replace("uptime-kuma", "cachet"))).toThrow("compat[0]");
});
