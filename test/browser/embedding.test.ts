import { afterAll, beforeAll, expect, test } from "bun:test";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite } from "../support/browser-site";

describeWithBrowser("a status page on another site", (browser) => {
  let site: BrowserSite;
  let other: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    site = await openSite(browser());
    const { components } = await site.app.page({ slug: "shop", name: "Shop" }, ["API"]);
    const created = await site.app.call("/api/v1/incidents", {
      method: "POST",
      key: await site.app.keyWith("write:incidents"),
      json: {
        page: "shop",
        name: "Payments fail",
        body: "We look.",
        components: { [components["API"] ?? ""]: "major_outage" },
      },
    });
    expect(created.status).toBe(201);
    const page = `${site.origin}/status/shop`;
    const html = `<!doctype html><html lang="en"><title>Shop</title><body><main><h1>Our shop</h1>
      <script src="${page}/widget.js"></script>
      <script async src="${page}/widget.js" data-style="banner"></script>
      <script src="${page}/widget.js" data-style="corner" data-theme="dark"></script>
      <iframe src="${page}/embed" title="Status of Shop" width="360" height="240"></iframe>
      <iframe src="${page}" title="The whole page"></iframe></main></body></html>`;
    other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(html, {
          headers: {
            "Content-Type": "text/html;charset=utf-8",
            // Without inline styles, as strict sites are.
            "Content-Security-Policy": `default-src 'none'; script-src ${site.origin}; frame-src ${site.origin}; style-src 'none'`,
          },
        }),
    });
  });

  afterAll(async () => {
    await other?.stop(true);
    await site?.[Symbol.asyncDispose]();
  });

  test("the widget and the frame show the state, and no other page can be framed", async () => {
    const context = await browser().newContext();
    try {
      const page = await context.newPage();
      await page.goto(other.url.href);
      const links = page.getByRole("link", { name: "Shop: Payments fail" });
      await links.nth(2).waitFor();
      expect(await links.count()).toBe(3);
      const kinds = await links.evaluateAll((all) => all.map(({ className }) => className));
      expect(kinds.toSorted()).toEqual(["banner", "corner", "pill"]);
      const corner = links.and(page.locator(".corner"));
      expect(await corner.evaluate((link) => getComputedStyle(link).position)).toBe("fixed");
      const frame = page.frameLocator('iframe[title="Status of Shop"]');
      await frame.getByRole("heading", { name: "Major system outage" }).waitFor();
      await frame.getByRole("link", { name: "Payments fail" }).waitFor();
      const whole = page.frameLocator('iframe[title="The whole page"]');
      expect(await whole.getByText("Payments fail").count()).toBe(0);
    } finally {
      await context.close();
    }
  }, 600_000);
});
