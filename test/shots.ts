import { mkdir, rm } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { createIdFactory } from "../src/base/ids";
import type { RandomBytes } from "../src/base/hash";
import { type BrowserSite, launchBrowser, missingBrowser } from "./support/browser-site";
import { openDemoSites } from "./support/demo-sites";
import { type Screen, SCREENS } from "./support/screens";
import { SMALL, startTour, type Tour, WIDE } from "./support/screen-tour";

// `bun run shots`: every screen of the dashboard as an image, wide and small, light and dark, and the
// two images of the README. Two runs give the same. `bun run shots <name>…` draws the screens of these names alone.

const OUT = new URL("../dist/shots/", import.meta.url).pathname;
const README_OUT = new URL("../deploy/shots/", import.meta.url).pathname;
const NAMES = process.argv.slice(2);
const THEMES = ["light", "dark"] as const;

const missing = missingBrowser();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
if (NAMES.length === 0) await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
await mkdir(README_OUT, { recursive: true });
const browser = await launchBrowser();
try {
  await shootAll(browser);
} finally {
  await browser.close();
}

async function shootAll(with_: Browser): Promise<void> {
  await using demoSites = await openDemoSites(with_, makeRepeatable);
  await using tour = startTour(demoSites);
  for (const screen of SCREENS) {
    if (NAMES.length === 0 || NAMES.includes(screen.name)) await shoot(tour, screen);
  }
}

async function shoot(tour: Tour, screen: Screen): Promise<void> {
  const { page } = await tour.show(screen);
  for (const viewport of screen.isSmallOnly ? [SMALL] : [WIDE, SMALL]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      const path = `${OUT}${screen.name}-${viewport.width}-${colorScheme}.png`;
      await save(page, path, screen.isOverlay !== true);
      if (screen.name === "keys" && viewport === WIDE) {
        await save(page, `${README_OUT}keys-${colorScheme}.png`, false);
      }
    }
  }
}

/** The whole page, or what the window shows of it. */
async function save(page: Page, path: string, fullPage: boolean): Promise<void> {
  await page.screenshot({ path, fullPage, animations: "disabled", caret: "hide" });
  console.log(path);
}

/** The same ids and values in every run. */
function makeRepeatable({ app: { ctx } }: BrowserSite): void {
  ctx.random = countingRandom();
  ctx.newId = createIdFactory(ctx.clock, ctx.random);
}

/** Bytes that look random and are the same each time: a linear congruential generator. */
function countingRandom(): RandomBytes {
  let state = 20_260_310;
  return (size) =>
    Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}
