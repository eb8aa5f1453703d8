import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { SCREENS } from "../support/screens";
import { describeScreens } from "../support/test-screens";

/** Names of what the foot of the sidebar always shows. */
const FOOT = ["Documentation", "Account", "Sign out"];

describeScreens("the sidebar", (tour) => {
  async function open(width: number, height: number): Promise<Page> {
    // Where there are subscribers, the sidebar has all of its entries.
    const screen = SCREENS.find(({ name }) => name === "subscribers");
    if (!screen) throw new Error("there is no screen subscribers");
    const { page } = await tour().show(screen);
    await page.setViewportSize({ width, height });
    return page;
  }

  /** Returns which names of the foot are inside the window. */
  async function shownOf(page: Page): Promise<string[]> {
    const foot = page.locator(".side-foot");
    const height = page.viewportSize()?.height ?? 0;
    const shown: string[] = [];
    for (const [role, name] of [
      ["link", "Documentation"],
      ["link", "Account"],
      ["button", "Sign out"],
    ] as const) {
      const bounds = await foot.getByRole(role, { name }).boundingBox();
      if (bounds && bounds.y >= 0 && bounds.y + bounds.height <= height) shown.push(name);
    }
    return shown;
  }

  /** Returns the distances by which the sidebar and its menu can be scrolled. */
  function scrollsOf(page: Page): Promise<number[]> {
    return page.evaluate(() =>
      [".side", ".menu"].map((selector) => {
        const element = document.querySelector(selector);
        return element ? element.scrollHeight - element.clientHeight : Number.NaN;
      }),
    );
  }

  test.each([[1280], [1000], [860]])(
    "the sidebar shows all of its entries without scrolling in a window of 800 px: width %p",
    async (width) => {
      const page = await open(width, 800);
      expect(await page.locator(".menu a").count()).toBe(8);
      expect(await scrollsOf(page)).toEqual([0, 0]);
      expect(await shownOf(page)).toEqual(FOOT);
    },
    600_000,
  );

  test("in a low window only the menu scrolls", async () => {
    const page = await open(1280, 480);
    const [side, menu] = await scrollsOf(page);
    expect(side).toBe(0);
    expect(menu).toBeGreaterThan(0);
    expect(await shownOf(page)).toEqual(FOOT);
  }, 600_000);

  test("on a phone, More has all entries and the foot", async () => {
    const page = await open(390, 700);
    expect(await page.locator(".side-foot").isVisible()).toBe(false);
    await page.getByRole("button", { name: "More", exact: true }).click();
    expect(await page.locator(".menu a:visible").count()).toBe(8);
    expect(await shownOf(page)).toEqual(FOOT);
    await page.locator(".menu").getByRole("link", { name: "Analytics" }).click();
    await page.getByRole("heading", { name: "Analytics", level: 1 }).waitFor();
  }, 600_000);
});
