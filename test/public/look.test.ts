import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { sha256Base64 } from "../../src/base/hash";
import { HOUR_MS, toIso } from "../../src/base/time";
import { deletePicture, putPicture } from "../../src/features/pages/logo";
import type { PageLookInput } from "../../src/features/pages/look";
import { startNoticeClock } from "../../src/features/pages/notices";
import { createTestApp, expectMissingPart, expectProblem, type TestApp } from "../support/app";
import { settle } from "../support/clock";
import { updatePage } from "../support/examined";
import { readHtml } from "../support/html";
import { createMirrorSite } from "../support/mirror-site";
import { PAGE_PASSWORD } from "../support/page-access";
import { png } from "../support/pictures";
import { createPrivateSite } from "../support/private-site";
import { createPublicSite } from "../support/public-site";

const setLook = (app: TestApp, id: string, look: PageLookInput) =>
  app.ctx.db.write((tx) => updatePage(app.ctx, tx, id, { look }, CLI_ACTOR));

const show = async (app: TestApp, path = "/status/acme") => readHtml((await app.call(path)).text);

describe("texts and links of a page", () => {
  test("notes and links are on every document of the page, with Markdown and without raw HTML", async () => {
    await using site = await createPublicSite();
    const { app, page } = site;
    const incident = await site.open();
    const plain = (await app.call("/status/acme")).text;
    await setLook(app, page.id, {
      header: "**Welcome** <script>x</script>",
      footer: "[Imprint](https://acme.example/imprint)",
      links: [{ name: "Shop", url: "https://shop.example/?a=1&b=2" }],
    });
    for (const below of ["", "/history", `/incidents/${incident.id}`, "/subscribe"]) {
      const shown = await show(app, `/status/acme${below}`);
      expect(shown.texts("main > .note strong")).toEqual(["Welcome"]);
      expect(shown.texts("main > .note script")).toEqual([]);
      expect(shown.attributes(".foot .note a", "href")).toEqual(["https://acme.example/imprint"]);
      expect(shown.attributes('.top nav a[rel="noopener"]', "href")).toEqual([
        "https://shop.example/?a=1&b=2",
      ]);
    }
    await setLook(app, page.id, { header: null, footer: null, links: [] });
    const again = (await app.call("/status/acme")).text;
    expect(again.replace(/data-version="\w+"/, "")).toBe(plain.replace(/data-version="\w+"/, ""));
  });

  test("the embed and the form of a private page have none of it", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const custom_css = "main{color:red}";
    await setLook(app, page.id, { header: "Above", footer: "Below", custom_css });
    const embed = await app.call("/status/acme/embed");
    expect(embed.status).toBe(200);
    expect(embed.text).not.toMatch(/Above|Below|color:red\}/);
    await using site = await createPrivateSite();
    await site.password(PAGE_PASSWORD);
    await setLook(site.app, site.page.id, { header: "Above", footer: "Below", custom_css });
    const form = await site.read("/status/inside");
    expect(form.status).toBe(401);
    expect(form.text).not.toMatch(/Above|Below|color:red\}/);
  });

  test("the API shows the look without the CSS, and rejects each wrong setting", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    await setLook(app, page.id, { header: "Above", custom_css: "main{color:red}" });
    const key = await app.keyWith("read:status");
    const { body } = await app.call("/api/v1/status/acme", { key });
    expect(body.page.look).toEqual({
      header: "Above",
      footer: null,
      links: [],
      hide_uptime: false,
      hide_history: false,
      notice: null,
      notice_until: null,
    });
    expect(JSON.stringify(body)).not.toContain("color:red");
    for (const wrong of [
      { links: [{ name: "A", url: "javascript:alert(1)" }] },
      { links: [{ name: "A", url: "https://a:b@acme.example" }] },
      { links: [{ name: "A", url: "https://acme.example/\nb" }] },
      { links: [{ name: "A", url: "https://acme.example/ b" }] },
      { links: [{ name: "", url: "https://acme.example" }] },
      { links: Array.from({ length: 9 }, () => ({ name: "A", url: "https://acme.example" })) },
      { header: "x".repeat(2_001) },
      { header: "[".repeat(1_500) },
      { notice: "Soon" },
      { notice: "Soon", notice_until: "tomorrow" },
      { custom_css: "a{}".repeat(7_000) },
      { custom_css: "a,".repeat(1_501) },
      { custom_css: `a{content:"${"\\\\".repeat(300)}"}` },
      { custom_css: `@media ${"(".repeat(801)}` },
      { custom_css: `p{${"a:];".repeat(2_001)}}` },
    ] as PageLookInput[]) {
      await expect(setLook(app, page.id, wrong)).rejects.toThrow(/wrong/);
    }
  });
});

describe("what a page hides", () => {
  test("a page without uptime has no bars, figures, tables and key, and keeps its components", async () => {
    await using site = await createPublicSite();
    const { app, page } = site;
    await site.open({ components: { [site.ids["Web"] ?? ""]: "major_outage" } });
    const before = await show(app);
    expect(before.texts(".key li")).not.toEqual([]);
    expect(before.texts(".method")).toHaveLength(1);
    const groups = await show(app, "/status/acme/groups/other");
    expect(groups.texts(".key li")).not.toEqual([]);
    await setLook(app, page.id, { hide_uptime: true });
    for (const path of ["/status/acme", "/status/acme/groups/other"]) {
      const after = await show(app, path);
      const gone = [".key li", ".method", ".component svg.days", ".axis", "table"];
      for (const selector of gone) expect(after.texts(selector)).toEqual([]);
      expect(after.texts(".component .up").join("")).toBe("");
      expect(after.texts(".component strong").length).toBeGreaterThan(0);
    }
    expect((await show(app)).texts(".component strong")).toEqual(before.texts(".component strong"));
  });

  test("a page without history lists no past, and its months are missing; an incident keeps its address", async () => {
    await using site = await createPublicSite();
    const { app, page } = site;
    const incident = await site.open();
    expect((await show(app)).texts("#past")).toHaveLength(1);
    await setLook(app, page.id, { hide_history: true });
    const after = await show(app);
    expect(after.texts("#past")).toEqual([]);
    expect(after.attributes("a", "href").filter((href) => href.includes("/history"))).toEqual([]);
    expectMissingPart(await app.call("/status/acme/history"));
    expect((await app.call(`/status/acme/incidents/${incident.id}`)).status).toBe(200);
    await setLook(app, page.id, { hide_history: false });
    expect((await app.call("/status/acme/history")).status).toBe(200);
  });
});

describe("a copy of a page", () => {
  test("a copy has the favicon, and no history where the page hides it", async () => {
    await using site = await createMirrorSite();
    const { app } = site;
    const { page } = await app.page();
    const { favicon } = await app.ctx.db.write((tx) =>
      putPicture(app.ctx, tx, "favicon", page.id, { bytes: png(32, 32) }, CLI_ACTOR),
    );
    await site.pass(2_000);
    expect(site.paths()).toContain(`status/acme/favicon/${favicon}`);
    expect(site.paths()).toContain("status/acme/history/index.html");
    await setLook(app, page.id, { hide_history: true });
    await site.pass(2_000);
    expect(site.paths()).not.toContain("status/acme/history/index.html");
    const copy = readHtml(site.read("status/acme/index.html"));
    expect(copy.attributes("a", "href").join(" ")).not.toContain("/history");
    expect(copy.attributes("link[rel=icon]", "href")).toEqual([`/status/acme/favicon/${favicon}`]);
  });
});

describe("a notice of a page", () => {
  test("a notice stands above everything and ends by itself, exactly at its end", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const end = app.clock.now() + HOUR_MS;
    await setLook(app, page.id, { notice: "We *move*.", notice_until: toIso(end) });
    const noticeOn = async () => (await show(app)).texts(".top > .notice:first-child");
    expect(await noticeOn()).toEqual(["We move."]);
    const version = (await app.call("/status/acme/version")).text;
    await app.clock.advance(HOUR_MS - 1);
    expect(await noticeOn()).toEqual(["We move."]);
    await app.clock.advance(1);
    expect(await noticeOn()).toEqual([]);
    expect((await app.call("/status/acme/version")).text).not.toBe(version);
    const key = await app.keyWith("read:status");
    expect((await app.call("/api/v1/status/acme", { key })).body.page.look).toMatchObject({
      notice: null,
      notice_until: null,
    });
  });

  test("the end of a notice is a change of the page, once, so that copies and CDNs follow", async () => {
    await using site = await createMirrorSite();
    const { app } = site;
    const clock = startNoticeClock(app.ctx);
    const { page } = await app.page();
    await app.page({ slug: "other", name: "Other" });
    const notice_until = toIso(app.clock.now() + HOUR_MS);
    await setLook(app, page.id, { notice: "We move.", notice_until });
    await site.pass(2_000);
    const copy = () => readHtml(site.read("status/acme/index.html"));
    expect(copy().texts(".notice")).toEqual(["We move."]);
    expect(copy().attributes(".notice", "data-until")).toEqual([notice_until]);
    const changed: string[] = [];
    app.ctx.signals.pageChanged.on((id) => changed.push(id));
    await site.pass(HOUR_MS - 10_000);
    expect(changed).toEqual([]);
    await site.pass(20_000);
    await settle();
    await site.pass(HOUR_MS);
    expect(changed).toEqual([page.id]);
    expect(copy().texts(".notice")).toEqual([]);
    const moved = (ms: number) => toIso(app.clock.now() + ms);
    await setLook(app, page.id, { notice: "Again.", notice_until: moved(HOUR_MS) });
    await setLook(app, page.id, { notice_until: moved(2 * HOUR_MS) });
    changed.length = 0;
    await site.pass(HOUR_MS + 10_000);
    expect(changed).toEqual([]);
    await site.pass(HOUR_MS);
    expect(changed).toEqual([page.id]);
    clock.cancel();
  });
});

describe("the favicon of a page", () => {
  const put = (app: TestApp, id: string, bytes: Uint8Array) =>
    app.ctx.db.write((tx) => putPicture(app.ctx, tx, "favicon", id, { bytes }, CLI_ACTOR));

  test("a favicon takes the place of the ring, also on home screens, and is not_found once removed", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    expect((await show(app)).attributes("link[rel=icon]", "href")[0]).toStartWith("data:image/svg");
    const bytes = png(192, 192);
    await put(app, page.id, bytes);
    const shown = await show(app);
    const [path = ""] = shown.attributes("link[rel=icon]", "href");
    expect(shown.attributes("link[rel=apple-touch-icon]", "href")).toEqual([path]);
    const request = new Request(`http://status.test${path}`);
    const answer = await app.app.handle(request, () => "203.0.113.7");
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(answer.headers.get("cache-control")).toContain("immutable");
    const manifest = JSON.parse((await app.call("/status/acme/manifest.webmanifest")).text);
    expect(manifest.icons).toEqual([{ src: path, sizes: "192x192", type: "image/png" }]);
    await app.ctx.db.write((tx) => deletePicture(app.ctx, tx, "favicon", page.id, CLI_ACTOR));
    expectMissingPart(await app.call(path));
    expect(app.audit().map(({ action }) => action)).toEqual(
      expect.arrayContaining(["page.put_favicon", "page.delete_favicon"]),
    );
  });

  test("a favicon that is no square or no picture is refused", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    await expect(put(app, page.id, png(32, 16))).rejects.toThrow(/wrong/);
    await expect(put(app, page.id, Buffer.from("<svg/>"))).rejects.toThrow(/wrong/);
  });

  test("strangers do not get the favicon of a private page", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ visibility: "private" });
    const { favicon } = await put(app, page.id, png(32, 32));
    const path = `/status/acme/favicon/${favicon}`;
    expectProblem(await app.call(path), "not_found");
    const session = await app.signedIn("viewer");
    expect((await app.call(path, { session })).status).toBe(200);
  });
});

describe("CSS of a page", () => {
  test("the CSS comes after the page's own style, with its hash in the policy, and styles the content alone", async () => {
    await using site = await createMirrorSite();
    const { app } = site;
    const { page } = await app.page();
    await setLook(app, page.id, {
      custom_css: ".strip{display:none} @import 'x'; main{color:red}",
    });
    await site.pass(2_000);
    const live = await app.call("/status/acme");
    const copy = site.read("status/acme/index.html");
    const policies = [
      live.headers.get("content-security-policy"),
      readHtml(copy).attributes("meta[http-equiv=Content-Security-Policy]", "content")[0],
    ];
    for (const [index, html] of [live.text, copy].entries()) {
      const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
      expect(style).toEndWith(".own .strip{display:none}.own main{color:red}");
      expect(policies[index]).toContain(`style-src 'sha256-${sha256Base64(style)}'`);
      const shown = readHtml(html);
      expect(shown.texts(".own main")).toHaveLength(1);
      expect(shown.texts(".own .strip")).toEqual([]);
    }
    expect(readHtml(copy).texts(".strip")).toHaveLength(1);
  });

  test("a page without CSS has no element for it", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    await setLook(app, page.id, { custom_css: "main{color:red}" });
    expect((await show(app)).texts(".own")).toHaveLength(1);
    await setLook(app, page.id, { custom_css: null });
    expect((await show(app)).texts(".own")).toEqual([]);
  });
});
