import { afterAll, beforeAll, describe } from "bun:test";
import type { Browser } from "playwright-core";
import { lazy } from "../../src/base/lazy";
import { type BrowserSite, launchBrowser, missingBrowser, openSite } from "./browser-site";

/** The browser of all tests in this process. It ends with the process. */
const sharedBrowser = lazy(launchBrowser);

/**
 * Describes tests that drive a real browser. Without Chromium they are skipped, loudly; in CI that is
 * a failure.
 */
export function describeWithBrowser(name: string, body: (browser: () => Browser) => void): void {
  const missing = missingBrowser();
  if (missing !== undefined) {
    if (process.env["CI"]) throw new Error(missing);
    console.warn(`SKIPPED: “${name}”. ${missing}`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await sharedBrowser();
    }, 60_000);
    body(() => browser);
  });
}

/** Describes tests that look at an application which really listens, in a real browser. */
export function describeInBrowser(name: string, body: (site: () => BrowserSite) => void): void {
  describeWithBrowser(name, (browser) => {
    let site: BrowserSite;
    beforeAll(async () => {
      site = await openSite(browser());
    }, 60_000);
    afterAll(() => site?.[Symbol.asyncDispose]());
    body(() => site);
  });
}
