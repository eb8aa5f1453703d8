import { expect, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import { toIso } from "../../src/base/time";
import { putPicture } from "../../src/features/pages/logo";
import type { PageLookInput } from "../../src/features/pages/look";
import { AXE_ROUTE, runAxe } from "../support/axe";
import { describeWithBrowser } from "../support/browser";
import { updatePage } from "../support/examined";
import { createMirrorSite, type MirrorSite } from "../support/mirror-site";
import { png } from "../support/pictures";
import { isWiderThanWindow, PHONE } from "../support/public-documents";

/** The copy of a page at its address, whose look a test changes. */
interface ServedCopy extends AsyncDisposable {
  site: MirrorSite;
  origin: string;
  /** Sets the look of the page and writes the copy. */
  setLook(look: PageLookInput): Promise<void>;
}

async function serveCopy(): Promise<ServedCopy> {
  const site = await createMirrorSite();
  const { app } = site;
  const { page } = await app.page({ slug: "acme", name: "Acme" }, ["API", "Search"]);
  await app.ctx.db.write((tx) =>
    putPicture(app.ctx, tx, "favicon", page.id, { bytes: png(192, 192) }, CLI_ACTOR),
  );
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: AXE_ROUTE,
    fetch(request) {
      const path = new URL(request.url).pathname.slice(1);
      const file = site.store.files.get(path) ?? site.store.files.get(`${path}/index.html`);
      if (!file) return new Response("Not found", { status: 404 });
      return new Response(file.bytes.slice(), { headers: { "Content-Type": file.type ?? "" } });
    },
  });
  return {
    site,
    origin: `http://127.0.0.1:${server.port}`,
    async setLook(look) {
      await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { look }, CLI_ACTOR));
      await site.pass(2_000);
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await site[Symbol.asyncDispose]();
    },
  };
}

async function open(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(url);
  return { page, errors, close: () => context.close() };
}

/** Attempts to hide, cover or imitate the colours of the line about a copy. */
const HOSTILE = [
  ".strip{display:none!important}",
  "*{display:none!important}",
  "html{display:none} body{opacity:0} :root{visibility:hidden}",
  ":root{--ink:#fff;--soft:#fff;--fill:#fff;--maint:#fff;--maint-soft:#fff;color:#fff;font-size:1px}",
  "@property --maint{syntax:'<color>';inherits:false;initial-value:#fff}",
  "main,header,footer{position:fixed!important;inset:0;z-index:2147483647;background:#fff}",
  "main::before{content:'';position:fixed;inset:-100vh;z-index:2147483647;background:#fff}",
  ".column{margin-top:-400px!important;background:#fff;position:relative;z-index:9}",
  "main{transform:translateY(-400px) scale(4);background:#fff}",
  "main{box-shadow:0 0 0 9999px #fff;outline:9999px solid #fff}",
  "main{position:absolute;top:-400px;height:4000px;background:#fff}",
  ".own,.own+*,.own~*,body>.own{margin-top:-400px;background:#fff}",
  "body:has(.strip) .strip, html:has(main) > body > .column{opacity:0}",
  "main{& ~ .strip{display:none} :root:has(&) .strip{display:none}}",
  "@scope (html){.strip{display:none}}",
  "main{scroll-initial-target:nearest;margin-top:3000px}",
  "header{float:left;margin:-300px;width:200vw;height:200vh;background:#fff}",
  "@media all{@supports (display:block){.strip{display:none}html{filter:opacity(0)}}}",
  "@keyframes x{from{opacity:0}to{opacity:0}}html,.strip{animation:x 1s infinite}",
  "p{color:red} } .strip{display:none} @layer x{.strip{display:none}}",
];

/** Returns the line about the copy as it looks, and its place. */
async function lineOn(page: Page) {
  const box = await page.locator(".strip").boundingBox();
  if (!box) return undefined;
  const isOnTop = await page.evaluate(({ x, y, width, height }) => {
    const points = [0.01, 0.25, 0.5, 0.75, 0.99].flatMap((across) =>
      [0.1, 0.5, 0.9].map((down) => [x + across * width, y + down * height] as const),
    );
    return points.every(([left, top]) => {
      const found = document.elementFromPoint(left, top);
      return found !== null && found.closest(".strip") !== null;
    });
  }, box);
  const picture = (await page.screenshot({ clip: box })).toString("base64");
  return { isOnTop, scrolled: await page.evaluate(() => scrollY), picture };
}

describeWithBrowser("the look of a page", (browser) => {
  test("no CSS of a page hides, covers or changes the line about a copy", async () => {
    await using copy = await serveCopy();
    const { site, origin, setLook } = copy;
    const url = `${origin}/status/acme`;
    const lineWith = async (custom_css: string) => {
      await setLook({ custom_css });
      const shown = await open(browser(), url, { javaScriptEnabled: false });
      const line = await lineOn(shown.page);
      await shown.close();
      return line;
    };
    const harmless = await lineWith("p{color:#123456}");
    expect(harmless).toMatchObject({ isOnTop: true, scrolled: 0 });
    expect(site.read("status/acme/index.html")).toContain(".own p{color:#123456}");
    for (const css of HOSTILE) {
      expect([css, await lineWith(css)]).toEqual([css, harmless]);
    }
  }, 300_000);

  test("a page with all of a look fits the window in each theme, without violations and errors", async () => {
    await using copy = await serveCopy();
    const { origin, setLook } = copy;
    await setLook({
      header: "All times are **UTC**. Read the [guide](https://acme.example/guide).",
      footer: "Acme, 1 Road, Town. [Imprint](https://acme.example/imprint)",
      links: [
        { name: "Shop", url: "https://shop.example" },
        { name: "Documentation for developers", url: "https://docs.example" },
        { name: "Support", url: "https://help.example" },
      ],
      notice: "We move to another data centre on Sunday.",
      notice_until: "2100-01-01T00:00:00Z",
      custom_css: ":root{--r:0px;--paper:light-dark(#fffdf5,#101820)}.card{border-width:2px}",
    });
    for (const options of [
      {},
      { colorScheme: "dark" },
      { viewport: PHONE },
      { viewport: PHONE, colorScheme: "dark" },
    ] as BrowserContextOptions[]) {
      const { page, errors, close } = await open(browser(), `${origin}/status/acme`, options);
      const pictures = process.env["LOOK_PICTURES"];
      const name = `${options.viewport ? "phone" : "wide"}-${options.colorScheme ?? "light"}.png`;
      if (pictures) await page.screenshot({ path: `${pictures}/${name}`, fullPage: true });
      expect(await page.getByText("We move to another").isVisible()).toBe(true);
      expect(await isWiderThanWindow(page)).toBe(false);
      expect(await runAxe(page)).toEqual([]);
      expect(errors.filter((text) => !text.includes("mirror.json"))).toEqual([]);
      await close();
    }
  }, 300_000);

  test("a notice whose end has passed leaves a copy that is not written again", async () => {
    await using copy = await serveCopy();
    // The clock of the test is behind that of the browser.
    const end = copy.site.app.clock.now() + 60_000;
    expect(end).toBeLessThan(Date.now());
    await copy.setLook({ notice: "We move.", notice_until: toIso(end) });
    expect(copy.site.read("status/acme/index.html")).toContain("We move.");
    const { page, close } = await open(browser(), `${copy.origin}/status/acme`);
    expect(await page.getByText("We move.").count()).toBe(0);
    await close();
  }, 300_000);

  test("Chromium reads the manifest of a page without errors", async () => {
    await using copy = await serveCopy();
    await copy.setLook({});
    const { page, close } = await open(browser(), `${copy.origin}/status/acme`);
    const session = await page.context().newCDPSession(page);
    const manifest = await session.send("Page.getAppManifest");
    expect(manifest.errors).toEqual([]);
    expect(manifest.url).toBe(`${copy.origin}/status/acme/manifest.webmanifest`);
    expect((await session.send("Page.getInstallabilityErrors")).installabilityErrors).toEqual([]);
    await close();
  }, 300_000);
});
