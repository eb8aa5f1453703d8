import { expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { AXE_ROUTE, runAxe } from "../support/axe";
import { describeWithBrowser } from "../support/browser";
import { createMirrorSite, type MirrorSite } from "../support/mirror-site";
import { isWiderThanWindow, PHONE } from "../support/public-documents";

/** A mirror, and a web server that sends its files without Allclear. */
interface ServedMirror extends AsyncDisposable {
  site: MirrorSite;
  origin: string;
  /** Answers requests for `mirror.json` with 503 if false. */
  setAvailable(isAvailable: boolean): void;
  /** Value of each `Range` header. */
  ranges: string[];
}

async function serveMirror(): Promise<ServedMirror> {
  const site = await createMirrorSite();
  const { components } = await site.app.page({ slug: "acme", name: "Acme" }, ["API"]);
  const key = await site.app.keyWith("write:incidents");
  const json = {
    page: "acme",
    name: "API is down",
    body: "We look.",
    components: { [components["API"] ?? ""]: "major_outage" },
  };
  await site.app.call("/api/v1/incidents", { method: "POST", key, json });
  await site.pass(0);
  let isAvailable = true;
  const ranges: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: AXE_ROUTE,
    fetch(request) {
      const path = new URL(request.url).pathname.slice(1);
      const folder = path === "" || path.endsWith("/") ? path : `${path}/`;
      const file = site.store.files.get(path) ?? site.store.files.get(`${folder}index.html`);
      if (!file) return new Response("Not found", { status: 404 });
      const headers = { "Content-Type": file.type ?? "" };
      const range = request.headers.get("range");
      if (range !== null) ranges.push(range);
      if (path === "mirror.json" && !isAvailable) return new Response("", { status: 503 });
      const [, last] = /^bytes=0-(\d+)$/.exec(range ?? "") ?? [];
      return last === undefined
        ? new Response(file.bytes.slice(), { headers })
        : new Response(file.bytes.slice(0, Number(last) + 1), { status: 206, headers });
    },
  });
  return {
    site,
    origin: `http://127.0.0.1:${server.port}`,
    ranges,
    setAvailable: (is) => (isAvailable = is),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await site[Symbol.asyncDispose]();
    },
  };
}

/** Opens a copy, `later` ms after it was made, in a tab whose timers the test owns. */
async function open(
  browser: Browser,
  { site, origin }: ServedMirror,
  later: number,
  { path = "/status/acme", ...look }: { path?: string; viewport?: typeof PHONE } = {},
): Promise<{ page: Page; errors: string[]; strip(): Promise<string[]> }> {
  const page = await (await browser.newContext(look)).newPage();
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.clock.install({ time: site.app.clock.now() + later });
  const asked = page.waitForResponse(/\/mirror\.json$/);
  await page.goto(origin + path);
  await (await asked).finished();
  const strip = async () => {
    await page.evaluate(async () => (await fetch("/robots.txt")).text());
    const text = await page.locator("[data-made-at]").textContent();
    const warning = await page.locator("[data-copy-old]").textContent();
    const classes = await page.locator(".strip").getAttribute("class");
    return [text ?? "", warning ?? "", classes ?? ""];
  };
  return { page, errors, strip };
}

describeWithBrowser("a copy in a browser", (browser) => {
  test("the copy shows its age, and a warning from five minutes on", async () => {
    await using mirror = await serveMirror();
    const { page, strip, errors } = await open(browser(), mirror, 4 * MINUTE_MS);
    expect(await strip()).toEqual(["Copy made 4 min ago", "", "strip t-maint"]);
    const asked = page.waitForResponse(/\/mirror\.json$/);
    await page.clock.runFor(MINUTE_MS);
    await (await asked).finished();
    expect(await strip()).toEqual([
      "Copy made 5 min ago",
      "The status may have changed since.",
      "strip t-degraded",
    ]);
    expect(await page.locator("[data-made-at]").getAttribute("title")).toBe(
      "Copy made 12:00 UTC on 10 Mar 2026",
    );
    expect(mirror.ranges).toEqual(["bytes=0-99", "bytes=0-99"]);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test("an unchanged copy is as old as the list of files, which the server renews", async () => {
    await using mirror = await serveMirror();
    for (let minute = 1; minute <= 10; minute += 1) await mirror.site.pass(MINUTE_MS);
    const { page, strip } = await open(browser(), mirror, 30 * SECOND_MS);
    expect(await strip()).toEqual(["Copy made just now", "", "strip t-maint"]);
    expect(await page.locator("[data-made-at]").getAttribute("title")).toContain("12:00 UTC");
    await page.context().close();
  });

  test("a copy whose list of files cannot be read shows the time at which it was made", async () => {
    await using mirror = await serveMirror();
    mirror.setAvailable(false);
    const { page, strip } = await open(browser(), mirror, 120 * MINUTE_MS);
    expect(await strip()).toEqual([
      "Copy made 2 h ago",
      "The status may have changed since.",
      "strip t-degraded",
    ]);
    await page.context().close();
  });

  test("copies have no violations of axe, fit a phone and load nothing that is missing", async () => {
    await using mirror = await serveMirror();
    const paths = mirror.site
      .paths()
      .filter((path) => path.endsWith(".html") && !path.includes("/embed/"))
      .map((path) => `/${path.replace(/\/?index\.html$/, "")}`);
    expect(paths).toHaveLength(6);
    for (const path of paths) {
      const { page, errors } = await open(browser(), mirror, 10 * MINUTE_MS, {
        path,
        viewport: PHONE,
      });
      expect(await runAxe(page), path).toEqual([]);
      expect(await isWiderThanWindow(page), path).toBe(false);
      expect(errors, path).toEqual([]);
      await page.context().close();
    }
  });

  test("a copy without scripts says when it was made", async () => {
    await using mirror = await serveMirror();
    const context = await browser().newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${mirror.origin}/status/acme`);
    expect(await page.locator(".strip").textContent()).toContain(
      "Copy made 12:00 UTC on 10 Mar 2026",
    );
    await context.close();
  });
});
