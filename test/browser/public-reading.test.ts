import { expect, test } from "bun:test";
import { describePublicDocuments } from "../support/public-documents";

describePublicDocuments("reading a status page in a browser", (site, documents) => {
  test("a status page without JavaScript has the same content, and its tables can be opened", async () => {
    await documents();
    const { page } = await site().visit("/status/acme", { javaScriptEnabled: false });
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Acme");
    expect(await page.getByRole("status").textContent()).toContain("Major system outage");
    expect(await page.getByRole("status").locator("time").textContent()).toMatch(/ UTC · .+/);
    expect(await page.getByText("Identified").isVisible()).toBe(true);
    // The table behind the bars opens without a script.
    const table = page.locator(".days table").first();
    expect(await table.isVisible()).toBe(false);
    await page.locator(".days summary").first().click();
    expect(await table.isVisible()).toBe(true);
    await page.context().close();
  }, 60_000);

  test("times are shown in the reader's time zone, with the original as title", async () => {
    const { maintenance = "" } = await documents();
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

  test("arrow keys move through the days, and each is described", async () => {
    await documents();
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

  test("an incident and its page link to each other by keyboard", async () => {
    await documents();
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

  test("a printed status page is black on white with open groups and without controls", async () => {
    await documents();
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
});
