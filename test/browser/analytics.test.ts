import { expect, test } from "bun:test";
import { describeScreens } from "../support/test-screens";
import { SCREENS } from "../support/screens";

const screen = (name: string) => {
  const found = SCREENS.find((each) => each.name === name);
  if (!found) throw new Error(`no screen ${name}`);
  return found;
};

/** Width of a sheet of A4 paper without its margins, in pixels. */
const PAPER = { width: 718, height: 1_040 };

describeScreens("analytics", (tour) => {
  test("arrow keys move through the days of the uptime chart, and a text describes the focused day", async () => {
    const { page } = await tour().show(screen("analytics"));
    const chart = page.locator(".uptime-chart");
    const note = () => chart.locator("[data-day-note]").textContent();
    await chart.locator('[data-day][tabindex="0"]').focus();
    expect(await note()).toMatch(/^10 Mar 2026: \d+\.\d+ %$/);
    await page.keyboard.press("ArrowLeft");
    expect(await note()).toBe("9 Mar 2026: 100 %");
    await page.keyboard.press("Home");
    expect(await note()).toBe("9 Feb 2026: 100 %");
    expect(await chart.locator('[data-day][tabindex="0"]').count()).toBe(1);
    const matrix = page.locator("[data-days]:has(> .uptime-matrix)");
    await matrix.locator('[data-day][tabindex="0"]').first().focus();
    expect(await matrix.locator("[data-day-note]").textContent()).toStartWith(
      "10 March 2026: Major outage (1 h",
    );
  }, 600_000);

  test.each([
    "analytics",
    "analytics-calendar",
    "analytics-response-time",
    "analytics-incidents",
    "component-monitors",
  ])(
    "a dark screen is printed on white without navigation and forms, and nothing is cut: %s",
    async (name) => {
      const { page } = await tour().show(screen(name));
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.setViewportSize(PAPER);
      const colours = await page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body);
        return [backgroundColor, color];
      });
      expect(colours).toEqual(["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
      for (const hidden of [".side", ".tabbar", ".bar", ".actions", "main form", ".crumbs"]) {
        const visible = await page.locator(hidden).filter({ visible: true }).count();
        expect([hidden, visible]).toEqual([hidden, 0]);
      }
      expect(await page.locator("main .card").filter({ visible: true }).count()).toBeGreaterThan(1);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("main, main .card, main a, main td")]
          .filter((element) => element.scrollWidth > element.clientWidth + 1)
          .filter((element) => getComputedStyle(element).display !== "inline")
          .map((element) => `${element.className} ${element.textContent?.slice(0, 40)}`),
      );
      expect(cut).toEqual([]);
      await page.emulateMedia({ media: "screen", colorScheme: "light" });
    },
    600_000,
  );
});
