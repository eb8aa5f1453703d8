import { expect, test } from "bun:test";
import { describePublicDocuments } from "../support/public-documents";

describePublicDocuments("reading a status page in a browser", (site, documents) => {
  test("a status page without JavaScript has the same content, and its tables can be opened", async () => {
    await documents();
    const { page } = await site().visit("/status/acme", { javaScriptEnabled: false });
    expect(await page.locator(".brand").textContent()).toBe("Acme");
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Major system outage");
    expect(await page.locator("#banner time").textContent()).toMatch(/ UTC · .+/);
    expect(await page.getByText("Identified").isVisible()).toBe(true);
    // The table behind the bars opens without a script.
    const table = page.locator(".axis table").first();
    expect(await table.isVisible()).toBe(false);
    await page.locator(".axis summary").first().click();
    expect(await table.isVisible()).toBe(true);
    await page.context().close();
  }, 600_000);

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
  }, 600_000);

  test("arrow keys move through the days, and each is described", async () => {
    await documents();
    const { page } = await site().visit("/");
    const components = page.locator("[data-days]");
    const note = components.locator("[data-day-note]");
    await components.locator(".component").nth(1).locator("[data-day]").last().focus();
    expect(await note.textContent()).toContain(": Degraded performance (");
    await page.keyboard.press("Home");
    expect(await note.textContent()).toContain(": Major outage (");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("g");
    await page.keyboard.press("Tab");
    expect(await note.textContent()).toBe("");
    await page.keyboard.press("Enter");
    expect(await components.locator("table").first().isVisible()).toBe(true);
    await page.context().close();
  }, 600_000);

  test("Enter on a day moves to its incident, and Escape moves back and then removes the text", async () => {
    const { incident } = await documents();
    const { page } = await site().visit("/");
    const note = page.locator("[data-days] [data-day-note]");
    const day = page.locator(".component").nth(0).locator("[data-day]").last();
    await day.focus();
    await page.keyboard.press("Enter");
    const link = note.locator("a:focus");
    expect(await link.textContent()).toBe("API is down");
    expect(await site().axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await day.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    expect(await note.textContent()).toBe("");
    await page.keyboard.press("Home");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${new URL(incident ?? "", site().origin).pathname}`);
    await page.context().close();
  }, 600_000);

  test("a day keeps its text while the pointer moves to the link in it", async () => {
    await documents();
    const { page } = await site().visit("/");
    const day = page.locator(".component").nth(1).locator("[data-day]").last();
    await day.click();
    await page.locator("[data-days] [data-day-note] a").click();
    await page.waitForURL(/\/incidents\//);
    await page.context().close();
  }, 600_000);

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
  }, 600_000);

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
    // A page may force its dark theme, which a printer has no use for.
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate(() => (document.documentElement.dataset["theme"] = "dark"));
    const grounds = await page.evaluate(() =>
      ["body", "#banner", ".card", ".story"].map((selector) => {
        const element = document.querySelector(selector) ?? document.body;
        const { color, backgroundColor } = getComputedStyle(element);
        return [color, backgroundColor.replace("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")].join();
      }),
    );
    expect(new Set(grounds)).toEqual(new Set(["rgb(0, 0, 0),rgb(255, 255, 255)"]));
    await page.context().close();
  }, 600_000);

  test("an address is copied and the button says so, and without JavaScript it can be selected", async () => {
    await documents();
    const { page } = await site().visit("/status/acme/subscribe");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const address = page.locator(".address").first();
    await address.getByRole("button", { name: "Copy the Atom address" }).click();
    await page
      .getByRole("status")
      .getByText("Copied the Atom address")
      .waitFor({ state: "attached" });
    expect(await address.getByRole("button").textContent()).toStartWith("Copied");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(`${site().origin}/status/acme/feed.atom`);
    await page.context().close();
    const plain = await site().visit("/status/acme/subscribe", { javaScriptEnabled: false });
    expect(await plain.page.getByRole("button").count()).toBe(0);
    expect(await plain.page.locator("code").first().isVisible()).toBe(true);
    await plain.page.context().close();
  }, 600_000);
});
