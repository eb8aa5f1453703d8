import { afterAll, beforeAll, describe } from "bun:test";
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import axePath from "axe-core/axe.min.js" with { type: "file" };
import { GALLERY_PATH } from "./page";
import { type GalleryServer, serveGallery } from "./server";

const CHROMIUM = "/usr/bin/chromium";
/** Host name of a home network, which is not a secure context. */
const PLAIN_HOST = "nas";

export interface Look extends BrowserContextOptions {
  /** True if the gallery is opened as `http://nas/`, where browsers withhold the clipboard. */
  isPlainHost?: boolean;
  path?: string;
}

export interface Gallery extends Pick<GalleryServer, "requests" | "answers"> {
  /** Opens the gallery in a new browser context and empties `requests`. */
  open(look?: Look): Promise<Page>;
  /** Returns the violations that axe-core finds on an open page, one per line. */
  axe(page: Page): Promise<string[]>;
  /** Errors of pages since the last `open`, and violations of their content security policy. */
  complaints: string[];
}

/** Describes tests of the gallery in a browser. Warns and skips them if Chromium is missing. */
export function describeGallery(name: string, body: (gallery: () => Gallery) => void): void {
  if (!existsSync(CHROMIUM)) {
    if (process.env["CI"]) throw new Error(`CI needs a browser at ${CHROMIUM}`);
    console.warn(`SKIPPED: “${name}” needs a browser at ${CHROMIUM}`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => {
    let browser: Browser;
    let served: GalleryServer;
    let gallery: Gallery;

    beforeAll(async () => {
      served = serveGallery(0);
      browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-background-networking",
          `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
        ],
      });
      gallery = createGallery(browser, served);
    }, 60_000);

    afterAll(async () => {
      await browser?.close();
      await served?.server.stop(true);
    });

    body(() => gallery);
  });
}

function createGallery(browser: Browser, { server, requests, answers }: GalleryServer): Gallery {
  const complaints: string[] = [];
  return {
    requests,
    answers,
    complaints,
    async open({ isPlainHost = false, path = GALLERY_PATH, ...options } = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      requests.length = 0;
      complaints.length = 0;
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      await page.goto(`http://${isPlainHost ? PLAIN_HOST : "127.0.0.1"}:${server.port}${path}`);
      return page;
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
