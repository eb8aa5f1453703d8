import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { sessionCookie } from "../../src/http/cookies";
import { systemClock } from "../../src/base/clock";
import { AXE_ROUTE, runAxe } from "./axe";
import type { TestClock } from "./clock";
import { type ServedApp, type ServeOptions, serveApp } from "./served-app";

/** Chromium without windows, whose pages take a fifth less processor time. */
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";
const CHROMIUM = existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : "/usr/bin/chromium";
/** Time limit for content that a test waits for, in milliseconds: less than that of a test, which then names it. */
const PATIENCE_MS = 4 * 60_000;

/**
 * Host name of a server in a home network without HTTPS, which this browser resolves to this
 * machine.
 */
export const HOME_HOST = "nas.test";
/** Host name of a home network without a dot, which is resolved to this machine too. */
export const PLAIN_HOST = "nas";

/** Requests and console errors of a page while it was open. */
export interface Visit {
  page: Page;
  requests: string[];
  errors: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  /** Token of a session to set as cookie. */
  session?: string | undefined;
  /**
   * True if open screens refresh themselves. Without a session they do by default; with one they see a
   * hidden tab, since the requests would take time from the test, above all if its clock runs fast.
   */
  isLive?: boolean;
}

export interface BrowserSite extends ServedApp {
  /** Opens a page in a new browser context, with the given session if any. */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
  axe: typeof runAxe;
}

/** Describes the missing browser in a sentence; undefined if it is installed. */
export function missingBrowser(): string | undefined {
  if (existsSync(CHROMIUM)) return undefined;
  return `This needs a browser at ${HEADLESS_SHELL} or ${CHROMIUM}.`;
}

/**
 * Features of Chromium that are turned off. The first starts a process for the next site of each
 * window, which no test opens. The next two load the suggestions of the address bar in two documents
 * per window, which takes longer than most pages. The others are those that Playwright turns off,
 * since this list replaces its own.
 */
const DISABLED_FEATURES = [
  "SpareRendererForSitePerProcess",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      // Without a graphics card, a process for drawing only copies what it is sent.
      "--in-process-gpu",
      "--disable-quic",
      "--disable-background-networking",
      // Every document runs its scripts for a moment only: optimising them costs more than it saves.
      "--js-flags=--no-opt --no-maglev",
      `--disable-features=${DISABLED_FEATURES.join(",")}`,
      `--host-resolver-rules=MAP ${HOME_HOST} 127.0.0.1, MAP ${PLAIN_HOST} 127.0.0.1`,
    ],
  });
}

/**
 * Serves a new installation and opens its pages in a browser, in real time unless a clock is given.
 * Disposing it closes the pages.
 */
export async function openSite(
  browser: Browser,
  options: Partial<ServeOptions> = {},
): Promise<BrowserSite> {
  const served = await serveApp({ clock: realClock(), routes: AXE_ROUTE, ...options });
  const visits: Visit[] = [];
  return {
    ...served,
    async visit(path, visitOptions) {
      const opened = await visit(browser, served, path, visitOptions);
      visits.push(opened);
      return opened;
    },
    axe: runAxe,
    async [Symbol.asyncDispose]() {
      await Promise.all(visits.map(({ page }) => page.context().close()));
      await served[Symbol.asyncDispose]();
    },
  };
}

async function visit(
  browser: Browser,
  { app, origin }: ServedApp,
  path: string,
  { session, isLive = session === undefined, ...options }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext(options);
  if (session !== undefined) {
    const cookie = sessionCookie(app.ctx, session);
    const [name = "", value = ""] = cookie.split(/[=;]/, 2);
    // A cookie for HTTPS is sent to this machine over plain HTTP too, but has to be set as it would be.
    const url = cookie.includes("; Secure") ? origin.replace("http:", "https:") : origin;
    await context.addCookies([{ name, value, url }]);
  }
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (!isLive) {
    await page.addInitScript(() => Object.defineProperty(document, "hidden", { value: true }));
  }
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(origin + path);
  return { page, requests, errors };
}

/** A browser lives in real time. */
function realClock(): TestClock {
  return { ...systemClock(), advance: async () => {}, stall: () => {}, setWallClock: () => {} };
}

/** Waits for a key's value on a page and returns it. */
export async function shownKeyValue(page: Page): Promise<string> {
  return (await page.getByText(/^allclear_\w{49}$/).textContent()) ?? "";
}
