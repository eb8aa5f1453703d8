import { expect, test } from "bun:test";
import {
  ALL_DOCUMENTS_MS,
  describePublicDocuments,
  expectAccessible,
  isWiderThanWindow,
  openAll,
  PHONE,
} from "../support/public-documents";

/** Returns the time of tomorrow, in UTC, at an hour that may be on the day after. */
function tomorrowAt(hour: number): string {
  const now = new Date();
  return new Date(
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, hour),
  ).toISOString();
}

describePublicDocuments("public documents on a phone", (site, documents) => {
  test(
    "public documents on a phone have no axe violations or console errors and fit the window",
    async () => {
      await expectAccessible(site(), Object.values(await documents()), { viewport: PHONE });
    },
    ALL_DOCUMENTS_MS,
  );

  test(
    "public documents without JavaScript have no axe violations and load nothing else",
    async () => {
      const { visit, axe, origin } = site();
      // axe cannot run without JavaScript, so it checks a copy of the HTML without its script.
      const paths = Object.values(await documents());
      const { page } = await visit("/", { viewport: PHONE });
      const plain = await visit("/", { viewport: PHONE, javaScriptEnabled: false });
      for (const path of paths) {
        plain.requests.length = 0;
        await plain.page.goto(origin + path);
        expect(plain.requests.filter((url) => !url.startsWith("data:"))).toEqual([origin + path]);
        const html = await plain.page.content();
        await page.setContent(html.replace(/<script[^>]*><\/script>/, ""));
        await openAll(page);
        expect(await axe(page)).toEqual([]);
      }
      await plain.page.context().close();
      await page.context().close();
    },
    ALL_DOCUMENTS_MS,
  );

  test("nothing on a phone moves when the script of the page runs", async () => {
    const { app, visit } = site();
    const { page } = await app.page({ slug: "still", name: "Still" });
    const key = await app.keyWith("write:incidents");
    const json = { page: page.slug, name: "Search is slow", body: "We look into it." };
    await app.call("/api/v1/incidents", { method: "POST", key, json });
    const { page: tab } = await visit("/status/still", { viewport: PHONE });
    expect(await tab.locator("[data-live-note]").textContent()).toContain("refreshes by itself");
    const heightOf = () => tab.locator("#banner").evaluate((banner) => banner.clientHeight);
    for (let width = 320; width <= 480; width += 20) {
      await tab.setViewportSize({ width, height: 800 });
      const after = await heightOf();
      const words = await tab.locator("[data-live-note]").evaluate((note) => {
        const { textContent } = note;
        note.textContent = "";
        return textContent;
      });
      expect([width, await heightOf()]).toEqual([width, after]);
      await tab.locator("[data-live-note]").evaluate((note, text) => {
        note.textContent = text;
      }, words);
    }
    await tab.context().close();
  });

  test("public documents fit a window of 320 pixels, also with long names and 200 components", async () => {
    const { app, visit, origin } = site();
    const paths = Object.values(await documents());
    const names = Array.from({ length: 200 }, (_, number) => `Component${number}`.repeat(8));
    const name = "Averyveryverylongname".repeat(6);
    const { components } = await app.page({ slug: "large", name, description: name }, names);
    const key = await app.keyWith("write:incidents", "write:maintenance");
    const json = { page: "large", name, body: name };
    await app.call("/api/v1/incidents", { method: "POST", key, json });
    const overnight = await app.call("/api/v1/maintenance", {
      method: "POST",
      key,
      json: {
        ...json,
        components: Object.values(components).slice(0, 2),
        scheduled_for: tomorrowAt(22),
        scheduled_until: tomorrowAt(26),
      },
    });
    expect(overnight.status).toBe(201);
    const { page } = await visit("/", { viewport: { width: 320, height: 640 } });
    const large = [
      "",
      "/incidents",
      "/subscribe",
      "/history",
      `/maintenance/${overnight.body.id}`,
    ].map((end) => `/status/large${end}`);
    for (const path of [...paths, ...large]) {
      await page.goto(origin + path);
      await openAll(page);
      expect(await isWiderThanWindow(page), path).toBe(false);
    }
    await page.context().close();
  }, 600_000);

  test("separate links and folds of a status page are 44 pixels high on a phone", async () => {
    await documents();
    const { page } = await site().visit("/", { viewport: PHONE, hasTouch: true, isMobile: true });
    const low = await page.evaluate(() =>
      [...document.querySelectorAll(".foot nav a, .top a, .more a, .section-head a, summary")]
        .filter((element) => element.checkVisibility())
        .filter((element) => element.getBoundingClientRect().height < 43.5)
        .map((element) => element.outerHTML),
    );
    expect(low).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("the head of a public page has Status, History and Subscribe, each on one line, at 390 and 320 pixels", async () => {
    await documents();
    const { page } = await site().visit("/status/acme", { viewport: PHONE });
    const nav = page.getByRole("navigation", { name: "Page" });
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 640 });
      for (const name of ["Status", "History", "Subscribe"]) {
        const link = nav.getByRole("link", { name, exact: true });
        expect(await link.isVisible()).toBe(true);
        const box = await link.boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(44);
        expect(box?.height).toBeLessThan(50);
      }
      expect(await isWiderThanWindow(page)).toBe(false);
    }
    await page.context().close();
  }, 600_000);

  test("with 50 open incidents the components begin within 3,000 pixels on a phone", async () => {
    const { app, visit } = site();
    const { components } = await app.page({ slug: "busy", name: "Busy" }, ["API", "Web"]);
    const key = await app.keyWith("write:incidents");
    for (let count = 0; count < 50; count++) {
      const json = {
        page: "busy",
        name: `Requests to the interface number ${count} fail or take longer than usual`,
        body: "Some requests fail. We look for the cause and write again within half an hour.",
        components: { [components["API"] ?? ""]: "partial_outage" },
      };
      const { status } = await app.call("/api/v1/incidents", { method: "POST", key, json });
      expect(status).toBe(201);
    }
    const { page } = await visit("/status/busy", { viewport: PHONE });
    expect(await page.locator("#open article").count()).toBe(3);
    expect(await page.locator("#open .line").count()).toBe(10);
    expect(await page.getByRole("link", { name: "37 more open incidents" }).isVisible()).toBe(true);
    const top = await page.locator("#components").evaluate((it) => it.getBoundingClientRect().top);
    expect(top).toBeLessThan(3_000);
    await page.context().close();
  }, 600_000);
});
