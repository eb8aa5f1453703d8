import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeWithBrowser } from "./browser";
import { type DemoSites, openDemoSites } from "./demo-sites";
import type { Screen } from "./screens";
import { SMALL, startTour, type Tour } from "./screen-tour";

/** Describes tests that open screens of the demo installations in a browser. */
export function describeScreens(
  name: string,
  body: (tour: () => Tour, demoSites: () => DemoSites) => void,
): void {
  describeWithBrowser(name, (browser) => {
    let demoSites: DemoSites;
    let tour: Tour;
    beforeAll(async () => {
      demoSites = await openDemoSites(browser());
      tour = startTour(demoSites);
    }, 60_000);
    afterAll(async () => {
      await tour?.[Symbol.asyncDispose]();
      await demoSites?.[Symbol.asyncDispose]();
    });
    body(
      () => tour,
      () => demoSites,
    );
  });
}

/** Tests screens for accessibility, phone width, console errors and requests to other hosts. */
export function testScreens(screens: readonly Screen[]): void {
  describeScreens("every screen of the dashboard", (tour, demoSites) => {
    test.each(screens.map((screen) => [screen.name, screen] as const))(
      "the screen has no axe violations, fits a phone and loads nothing from other hosts: %s",
      async (_name, screen) => {
        const { origin, axe } = screen.open(demoSites()).site;
        const { page, requests, errors } = await tour().show(screen);
        const isAbove = screen.isOverlay === true && !screen.isSmallOnly;
        // An overlay that a click opens is fetched first.
        if (isAbove) await page.locator("h1").nth(1).waitFor();
        expect(await headings(page)).toBe(isAbove ? 2 : 1);
        expect(await axe(page)).toEqual([]);
        // A theme changes colours only.
        await page.emulateMedia({ colorScheme: "dark" });
        expect(await axe(page, "only")).toEqual([]);
        // A small window changes the layout only. What appears only there has a screen of its own.
        await page.setViewportSize(SMALL);
        // As high as its content, since bars that stay in view would cover parts of what can be pressed.
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        await page.setViewportSize({ ...SMALL, height: Math.max(SMALL.height, height) });
        expect(await axe(page, "none")).toEqual([]);
        expect(await overflow(page)).toBe(0);
        expect(await crumbsAboveHeading(page)).toBe(true);
        expect(requests.filter((url) => !isOwn(url, origin))).toEqual([]);
        expect(errors.map(withoutReason)).toEqual(expectedErrors(screen));
      },
      60_000,
    );
  });
}

/** Counts the main headings. Each page would load a script of the browser's driver for a locator. */
function headings(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll("h1").length);
}

/** Returns by how many pixels a page is wider than its window. */
function overflow(page: Page): Promise<number> {
  // Public pages keep room for a scroll bar, so that their content can be narrower than the window.
  return page.locator("html").evaluate((html) => Math.max(0, html.scrollWidth - innerWidth));
}

/** Returns false if breadcrumbs lie over the heading of their screen. */
function crumbsAboveHeading(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const bottom = document.querySelector(".crumbs")?.getBoundingClientRect().bottom ?? 0;
    const top = document.querySelector(".crumbs ~ h1")?.getBoundingClientRect().top ?? bottom;
    return bottom <= top;
  });
}

function isOwn(url: string, origin: string): boolean {
  return url.startsWith(`${origin}/`) || url.startsWith("data:");
}

function withoutReason(line: string): string {
  return line.replace(/ \([A-Z][\w ]+\)$/, "");
}

/** Returns the console messages that a browser writes for a document with an error status. */
function expectedErrors({ status = 200 }: Screen): string[] {
  if (status < 400) return [];
  return [`Failed to load resource: the server responded with a status of ${status}`];
}
