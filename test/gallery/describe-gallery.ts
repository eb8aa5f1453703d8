import { afterAll, beforeAll } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { describeWithBrowser } from "../support/browser";
import { AXE_ROUTE, runAxe } from "../support/axe";
import { PLAIN_HOST } from "../support/browser-site";
import { GALLERY_PATH } from "./page";
import { type GalleryServer, serveGallery } from "./server";

export interface Look extends BrowserContextOptions {
  /** True if the gallery is opened as `http://nas/`, where browsers withhold the clipboard. */
  isPlainHost?: boolean;
  path?: string;
}

export interface Gallery extends Pick<GalleryServer, "requests" | "answers"> {
  /** Opens the gallery in a new browser context and empties `requests`. */
  open(look?: Look): Promise<Page>;
  axe: typeof runAxe;
  /** Errors of pages since the last `open`, and violations of their content security policy. */
  errors: string[];
}

/** Describes tests of the gallery in a browser. Warns and skips them if Chromium is missing. */
export function describeGallery(name: string, body: (gallery: () => Gallery) => void): void {
  describeWithBrowser(name, (browser) => {
    let served: GalleryServer;
    let gallery: Gallery;
    beforeAll(() => {
      served = serveGallery(0, AXE_ROUTE);
      gallery = createGallery(browser(), served);
    });
    afterAll(() => served?.server.stop(true));
    body(() => gallery);
  });
}

function createGallery(browser: Browser, { server, requests, answers }: GalleryServer): Gallery {
  const errors: string[] = [];
  return {
    requests,
    answers,
    errors,
    async open({ isPlainHost = false, path = GALLERY_PATH, ...options } = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      requests.length = 0;
      errors.length = 0;
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      await page.goto(`http://${isPlainHost ? PLAIN_HOST : "127.0.0.1"}:${server.port}${path}`);
      return page;
    },
    axe: runAxe,
  };
}
