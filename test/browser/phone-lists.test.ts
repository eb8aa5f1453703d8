import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { SCREENS } from "../support/screens";
import { describeScreens } from "../support/test-screens";

/** Screens of lists in the installation with demo data. */
const LISTS = [
  "monitors",
  "incidents",
  "maintenance",
  "schedules",
  "components",
  "subscribers",
  "mailings",
  "pages",
  "templates",
  "webhooks",
  "users",
  "keys",
  "activity",
];

/** Height in px within which the first entry of a list begins. */
const FIRST_WITHIN = 300;

describeScreens("the lists on a phone", (tour, demoSites) => {
  test.each(LISTS)("the first entry begins within 300 px of the top: %s", async (name) => {
    const screen = SCREENS.find((each) => each.name === name);
    if (!screen) throw new Error(`no screen is named ${name}`);
    const { page } = await tour().show({ ...screen, isSmallOnly: true });
    // What needs somebody comes before the list.
    await page.evaluate(() => {
      for (const notice of document.querySelectorAll(".notice")) notice.remove();
    });
    const first = page.locator("tbody tr, [data-order-list] li").first();
    const box = await first.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect(box?.y).toBeLessThanOrEqual(FIRST_WITHIN);
  });

  const MONITORS = "/admin/monitors";

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with" : "without";
    test(`several filters and an order are chosen behind one button, ${how} a script`, async () => {
      const { demoData } = demoSites();
      const { page } = await demoData.visit(MONITORS, {
        session: demoData.sessions.owner,
        viewport: { width: 390, height: 844 },
        javaScriptEnabled,
      });
      await page.getByRole("button", { name: "Filters", exact: true }).click();
      const sheet = page.getByRole("group", { name: "Filters" });
      await sheet.getByLabel("Type").selectOption("http");
      const tag = await sheet.getByLabel("Tag").locator("option").nth(1).getAttribute("value");
      await sheet.getByLabel("Tag").selectOption(tag);
      await sheet.getByLabel("Order").selectOption("-response");
      expect(new URL(page.url()).search).toBe("");
      await sheet.getByRole("button", { name: "Show", exact: true }).click();
      await page.waitForURL(/sort=-response/);
      expect(paramsOf(page)).toMatchObject({ type: "http", tag, sort: "-response" });
      expect(await sheet.isVisible()).toBe(false);
      await page.getByRole("button", { name: "Filters 2 in force" }).click();
      await sheet.getByRole("link", { name: "Show all" }).click();
      await page.waitForURL(/monitors\?sort=-response$/);
      await page.context().close();
    });
  }

  test("in a wide window the filters stand in the list, and a heading orders it by the keyboard", async () => {
    const { demoData } = demoSites();
    const { page } = await demoData.visit(`${MONITORS}?type=http`, {
      session: demoData.sessions.owner,
      javaScriptEnabled: false,
    });
    expect(await page.getByRole("button", { name: /^Filters/ }).count()).toBe(0);
    expect(await page.getByLabel("Order").isVisible()).toBe(false);
    await page.getByRole("link", { name: "Response", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=-response/);
    expect(paramsOf(page)).toEqual({ type: "http", sort: "-response" });
    const heading = page.getByRole("columnheader", { name: "Response" });
    expect(await heading.getAttribute("aria-sort")).toBe("descending");
    const shown = await page.locator("tbody td:nth-last-child(2)").allTextContents();
    const times = shown.map((text) => Number.parseFloat(text) * (text.endsWith(" ms") ? 1 : 1_000));
    expect(times.length).toBeGreaterThan(1);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    await page.context().close();
  });
});

function paramsOf(page: Page): Record<string, string> {
  return Object.fromEntries(
    [...new URL(page.url()).searchParams].filter(([, value]) => value !== ""),
  );
}
