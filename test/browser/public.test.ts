import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DAY_MS, HOUR_MS, toIso } from "../../src/kernel/time";
import { describeInBrowser } from "../support/browser";
import type { BrowserSite, VisitOptions } from "../support/browser-site";

const PHONE = { width: 390, height: 844 };

/** A page on which much goes on, and the paths of its pages. */
async function fillDemoData({ app }: BrowserSite): Promise<Record<string, string>> {
  const { components } = await app.page(
    { slug: "acme", name: "Acme", description: "All of it", time_zone: "Asia/Tokyo" },
    ["API", "Web"],
  );
  const { API: api = "", Web: web = "" } = components;
  const key = await app.keyWith("write:incidents", "write:maintenance");
  const send = async (method: string, path: string, json: object) =>
    (await app.call(`/api/v1${path}`, { method, key, json })).body;
  const now = app.clock.now();
  const body = "# Why\n\nSee [this](https://a.example).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> so";
  const past = await send("POST", "/incidents", {
    page: "acme",
    name: "It was slow",
    body,
    started_at: toIso(now - 2 * DAY_MS),
    resolved_at: toIso(now - 2 * DAY_MS + HOUR_MS),
    components: { [web]: "degraded_performance" },
  });
  await send("PUT", `/incidents/${past.id}/postmortem`, { body, publish: true });
  const open = await send("POST", "/incidents", {
    page: "acme",
    name: "API is down",
    body: "We look into it.",
    components: { [api]: "major_outage" },
  });
  await send("POST", `/incidents/${open.id}/updates`, { status: "identified", body });
  const planned = await send("POST", "/maintenance", {
    page: "acme",
    name: "Upgrade",
    body,
    components: [web],
    scheduled_for: toIso(now + DAY_MS),
    scheduled_until: toIso(now + DAY_MS + HOUR_MS),
  });
  return {
    home: "/",
    incident: `/status/acme/incidents/${open.id}`,
    "an incident with its post-mortem": `/status/acme/incidents/${past.id}`,
    maintenance: `/status/acme/maintenance/${planned.id}`,
    history: "/status/acme/history",
    "an empty month": "/status/acme/history?month=2020-01",
  };
}

function openAll(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
}

describeInBrowser("the public pages in a browser", (site) => {
  let paths: Record<string, string>;
  const demoData = async () => (paths ??= await fillDemoData(site()));

  test.each<{ name: string; look: VisitOptions }>([
    { name: "light", look: { colorScheme: "light" } },
    { name: "dark", look: { colorScheme: "dark" } },
    { name: "on a phone", look: { viewport: PHONE } },
    { name: "in forced colours", look: { forcedColors: "active" } },
    { name: "with more contrast, dark", look: { contrast: "more", colorScheme: "dark" } },
  ])(
    "are clean under axe, complain of nothing and fit: $name",
    async ({ look }) => {
      const { visit, axe, origin } = site();
      for (const path of Object.values(await demoData())) {
        const { page, requests, complaints } = await visit(path, look);
        await openAll(page);
        expect(await axe(page)).toEqual([]);
        expect(complaints).toEqual([]);
        const asked = requests.filter((url) => !url.startsWith("data:"));
        // One request to what is seen; the script comes after it.
        expect(asked).toEqual([
          origin + path,
          expect.stringMatching(/\/assets\/page\.[0-9a-f]{16}\.js$/),
        ]);
        const isWiderThanWindow = await page.evaluate(
          () => document.documentElement.scrollWidth > innerWidth,
        );
        expect(isWiderThanWindow).toBe(false);
        await page.context().close();
      }
    },
    120_000,
  );

  test("are clean under axe without their script, too, and then ask for nothing more", async () => {
    const { visit, axe, origin } = site();
    // Where scripts are off axe cannot run: it is given the page as it is there, without the script.
    const { page } = await visit("/docs/errors", { viewport: PHONE });
    for (const path of Object.values(await demoData())) {
      const plain = await visit(path, { viewport: PHONE, javaScriptEnabled: false });
      expect(plain.requests.filter((url) => !url.startsWith("data:"))).toEqual([origin + path]);
      const html = await plain.page.content();
      await plain.page.context().close();
      await page.setContent(html.replace(/<script[^>]*><\/script>/, ""));
      await openAll(page);
      expect(await axe(page)).toEqual([]);
    }
    await page.context().close();
  }, 120_000);

  test("say the same without a script", async () => {
    await demoData();
    const { page } = await site().visit("/status/acme", { javaScriptEnabled: false });
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Acme");
    expect(await page.getByRole("status").textContent()).toContain("Major System Outage");
    expect(await page.getByRole("status").locator("time").textContent()).toMatch(/ UTC · .+/);
    expect(await page.getByText("Identified").isVisible()).toBe(true);
    // The table behind the bars opens by itself.
    const table = page.locator(".days table").first();
    expect(await table.isVisible()).toBe(false);
    await page.locator(".days summary").first().click();
    expect(await table.isVisible()).toBe(true);
    await page.context().close();
  }, 60_000);

  test("tell times by the reader's clock, and what stood there as a hint", async () => {
    const { maintenance = "" } = await demoData();
    const { page } = await site().visit(maintenance, { timezoneId: "America/New_York" });
    const planned = page.locator("time[data-until]");
    const at = new Date((await planned.getAttribute("datetime")) ?? "");
    const hour = new Intl.DateTimeFormat("en-GB", {
      timeZone: "America/New_York",
      hour: "2-digit",
      minute: "2-digit",
    }).format(at);
    expect(await planned.textContent()).toContain(hour);
    expect(await planned.textContent()).not.toContain("UTC");
    expect(await planned.getAttribute("title")).toContain("UTC");
    expect(await page.locator("[data-zones]").textContent()).toContain("America/New_York");
    await page.context().close();
  }, 60_000);

  test("let the keyboard walk through the days, and say what each was like", async () => {
    await demoData();
    const { page } = await site().visit("/");
    const web = page.locator("[data-days]").nth(1);
    const note = web.locator("[data-day-note]");
    const usual = await note.textContent();
    await web.locator("[data-day]").last().focus();
    expect(await note.textContent()).not.toBe(usual);
    await page.keyboard.press("Home");
    expect(await note.textContent()).toEndWith(": No data");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("g");
    await page.keyboard.press("Tab");
    expect(await note.textContent()).toBe(usual);
    await page.keyboard.press("Enter");
    expect(await web.locator("table").isVisible()).toBe(true);
    await page.context().close();
  }, 60_000);

  test("lead with the keyboard alone from an incident to its own page and back", async () => {
    await demoData();
    const { page } = await site().visit("/status/acme");
    await page.getByRole("link", { name: "API is down" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/incidents\//);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("API is down");
    await page.getByRole("link", { name: "Acme" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/status/acme");
    await page.context().close();
  }, 60_000);

  test("print black on white, with every group open and nothing that only a screen can do", async () => {
    await demoData();
    const { page } = await site().visit("/", { colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "light" });
    const look = await page.evaluate(() => {
      const { color, backgroundColor } = getComputedStyle(document.body);
      return { color, backgroundColor };
    });
    expect(look).toEqual({ color: "rgb(0, 0, 0)", backgroundColor: "rgb(255, 255, 255)" });
    expect(await page.getByRole("link", { name: "Subscribe" }).isVisible()).toBe(false);
    expect(await page.getByRole("link", { name: "Atom" }).isVisible()).toBe(false);
    await page.locator(".group").evaluate((group) => group.removeAttribute("open"));
    expect(await page.locator(".group .component").first().isVisible()).toBe(true);
    await page.context().close();
  }, 60_000);

  test("can be touched on a phone: links by themselves and what opens are 44 pixels high", async () => {
    await demoData();
    const { page } = await site().visit("/", { viewport: PHONE, hasTouch: true, isMobile: true });
    const low = await page.evaluate(() =>
      [...document.querySelectorAll(".foot nav a, .top a, .more a, summary")]
        .filter((element) => element.getBoundingClientRect().height < 43.5)
        .map((element) => element.outerHTML),
    );
    expect(low).toEqual([]);
    await page.context().close();
  }, 60_000);
});

describeInBrowser("the documentation in a browser", (site) => {
  test("lists every operation and asks no other host for anything", async () => {
    const { visit, origin } = site();
    const { page, requests, complaints } = await visit("/docs");
    await page.getByText("/api/v1/status/{slug}").first().waitFor();
    await page.getByText("Read a status page").first().click();
    await page.getByText("The page's status document.").first().waitFor();
    const elsewhere = requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:"));
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 60_000);
});
