import { describe, expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply/apply";
import { lookOf } from "../../../src/features/pages/look";
import { findPageBySlug } from "../../../src/features/pages/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";

const fileWith = (look: string) => `pages: [{ slug: acme, name: Acme, look: ${look} }]`;

function pageOf({ ctx }: TestApp) {
  const page = findPageBySlug(ctx.db, { slug: "acme" });
  if (!page) throw new Error("there is no page");
  return page;
}

describe("the look of a page in a file", () => {
  test("settings of a file are stored and exported, and a second run changes nothing", async () => {
    await using app = await createTestApp();
    const file = fileWith(
      "{ header: Hello, links: [{ name: Shop, url: 'https://shop.example' }], hide_uptime: true, notice: Soon, notice_until: '2026-01-01T10:00:00+01:00', custom_css: 'main{color:red} @import x;' }",
    );
    await apply(app, file);
    const stored = lookOf(pageOf(app));
    expect(stored).toEqual({
      header: "Hello",
      footer: null,
      links: [{ name: "Shop", url: "https://shop.example" }],
      hide_uptime: true,
      hide_history: false,
      notice: "Soon",
      // It has ended, which makes no difference to the file.
      notice_until: "2026-01-01T09:00:00.000Z",
      custom_css: "main{color:red} @import x;",
    });
    expect(pageOf(app).look.css).toBe(".own main{color:red}");
    expect((await apply(app, file)).changes).toEqual([]);
    const { footer: _footer, hide_history: _hidden, ...exported } = stored;
    expect(exportFile(app.ctx.db).pages[0]?.look).toEqual(exported);
  });

  test("settings that a file leaves out return to their defaults, and are not exported", async () => {
    await using app = await createTestApp();
    await apply(app, fileWith("{ footer: Acme, custom_css: 'main{color:red}' }"));
    const lines = linesOf(await apply(app, "pages: [{ slug: acme, name: Acme }]"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toStartWith("~ page acme: look {");
    expect(pageOf(app).look.css).toBe("");
    expect(exportFile(app.ctx.db).pages[0]?.look).toBeUndefined();
  });

  test("an invalid setting is rejected with its place", async () => {
    await using app = await createTestApp();
    for (const [look, error] of [
      ["{ links: [{ name: A, url: ftp://a }] }", "look.links[0].url must be an address"],
      ["{ notice: Soon }", "look.notice_until must say until when"],
      ["{ colour: red }", "look.colour"],
    ] as const) {
      await expect((async () => apply(app, fileWith(look)))()).rejects.toThrow(error);
    }
    expect(findPageBySlug(app.ctx.db, { slug: "acme" })).toBeUndefined();
  });
});
