import { describe, expect, test } from "bun:test";
import { findPage } from "../../../../src/features/pages/store";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { asUpload } from "../../../support/multipart";
import {
  createPageDashboard,
  flashAfter,
  type PageDashboard,
  PAGES,
} from "../../../support/page-dashboard";
import { png } from "../../../support/pictures";

const lookOf = ({ id }: PageDashboard) => `${PAGES}/${id}/look`;

const storedLook = ({ app, id }: PageDashboard) => findPage(app.ctx.db, { id })?.look;

const TEXTS = { notice: "", notice_until: "", header: "", footer: "", links: "" };

describe("the appearance of a page", () => {
  test("texts, links and what is hidden are saved together, and shown again", async () => {
    await using site = await createPageDashboard();
    const answer = await site.change("texts", {
      ...TEXTS,
      header: "Hello",
      links: "Our shop https://shop.example\n",
      notice: "Soon",
      notice_until: "2026-03-11T12:00",
      hide_history: "yes",
    });
    expect(await flashAfter(site, answer, lookOf(site))).toBe("The texts were changed.");
    expect(storedLook(site)).toMatchObject({
      header: "Hello",
      links: [{ name: "Our shop", url: "https://shop.example" }],
      notice: "Soon",
      notice_until: "2026-03-11T12:00:00.000Z",
      hide_uptime: false,
      hide_history: true,
    });
    const shown = readHtml((await site.show(lookOf(site))).text);
    expect(shown.texts("textarea[name=links]")).toEqual(["Our shop https://shop.example"]);
    expect(shown.attributes("input[name=notice_until]", "value")).toEqual(["2026-03-11T12:00"]);
  });

  test("a notice without an end, and a line without an address, are errors at their fields", async () => {
    await using site = await createPageDashboard();
    const first = await site.change("texts", { ...TEXTS, notice: "Soon" });
    expect(first.status).toBe(422);
    expect(fieldErrorsOn(first.text)).toMatchObject({
      notice_until: "End of the notice is empty.",
    });
    const second = await site.change("texts", { ...TEXTS, links: "Shop https://a.example\nHelp" });
    expect(fieldErrorsOn(second.text)["links"]).toStartWith("Line 2: ");
    expect(storedLook(site)).not.toMatchObject({ notice: "Soon" });
  });

  test("the screen lists what the page leaves out of the CSS, until the CSS has none of it", async () => {
    await using site = await createPageDashboard();
    const css = "main{color:red}\n@import 'x';";
    expect(
      await flashAfter(site, await site.change("css", { custom_css: css }), lookOf(site)),
    ).toBe("The CSS was changed.");
    const listed = async () => readHtml((await site.show(lookOf(site))).text).texts(".notice li");
    expect(await listed()).toEqual(["line 2: @import 'x'; (@import is not used)"]);
    await site.change("css", { custom_css: "main{color:red}" });
    expect(await listed()).toEqual([]);
    const long = await site.change("css", { custom_css: "a{}".repeat(7_000) });
    expect(fieldErrorsOn(long.text)["custom_css"]).toBeDefined();
  });

  test("a favicon is uploaded and removed, and must be a square", async () => {
    await using site = await createPageDashboard();
    const upload = (bytes: Uint8Array) =>
      site.show(
        `${PAGES}/${site.id}/favicon`,
        asUpload([{ name: "favicon", filename: "a.png", type: "image/png", bytes }]),
      );
    const wide = await upload(png(64, 32));
    expect(fieldErrorsOn(wide.text)["favicon"]).toBe(
      "Favicon is 64 × 32 pixels, and must be a square.",
    );
    const answer = await upload(png(64, 64));
    expect(await flashAfter(site, answer, lookOf(site))).toBe("The favicon was changed.");
    const [src = ""] = readHtml((await site.show(lookOf(site))).text).attributes("main img", "src");
    expect(src).toContain("/favicon/");
    const removed = await site.change("favicon/remove", {});
    expect(await flashAfter(site, removed, lookOf(site))).toBe("The favicon was removed.");
  });
});
