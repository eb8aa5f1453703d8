import { afterAll, beforeAll, describe } from "bun:test";
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import axePath from "axe-core/axe.min.js" with { type: "file" };
import { createTestApp, type TestApp } from "./app";
import { systemClock } from "../../src/kernel/clock";
import type { TestClock } from "./clock";

const CHROMIUM = "/usr/bin/chromium";

/** What a page asked for and complained of while it was open. */
export interface Visit {
  page: Page;
  requests: string[];
  complaints: string[];
}

export interface BrowserSite {
  app: TestApp;
  origin: string;
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>;
  /** What axe-core finds wrong with an open page, a line each. */
  axe(page: Page): Promise<string[]>;
}

/**
 * Describes tests that drive a real browser against an application that really listens. Without
 * Chromium they are skipped, loudly; in CI that is a failure.
 */
export function describeInBrowser(name: string, body: (site: () => BrowserSite) => void): void {
  if (!existsSync(CHROMIUM)) {
    if (process.env["CI"]) throw new Error(`CI needs a browser at ${CHROMIUM}`);
    console.warn(`SKIPPED: “${name}” needs a browser at ${CHROMIUM}`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => {
    let browser: Browser;
    let server: Bun.Server<undefined>;
    let site: BrowserSite;

    beforeAll(async () => {
      const app = await createTestApp({ clock: realClock() });
      server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: (request) => app.app.door(request, () => "127.0.0.1"),
      });
      browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--disable-background-networking",
        ],
      });
      site = createSite(app, `http://127.0.0.1:${server.port}`, browser);
    }, 60_000);

    afterAll(async () => {
      await browser?.close();
      await server?.stop(true);
      await site?.app[Symbol.asyncDispose]();
    });

    body(() => site);
  });
}

function createSite(app: TestApp, origin: string, browser: Browser): BrowserSite {
  return {
    app,
    origin,
    async visit(path, options) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const visit: Visit = { page, requests: [], complaints: [] };
      page.on("request", (request) => visit.requests.push(request.url()));
      page.on("pageerror", (error) => visit.complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") visit.complaints.push(message.text());
      });
      await page.goto(origin + path);
      return visit;
    },
    async axe(page) {
      // Evaluated by the debugger, which a page's Content-Security-Policy does not bind.
      await page.evaluate(await Bun.file(axePath).text());
      return page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; help: string }[] }> };
        };
        const { violations } = await axe.run();
        return violations.map(({ id, help }) => `${id}: ${help}`);
      });
    },
  };
}

/** A browser lives in real time. */
function realClock(): TestClock {
  return { ...systemClock(), advance: async () => {}, setWallClock: () => {} };
}
