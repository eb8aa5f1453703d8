import { afterAll, beforeAll, describe } from "bun:test";
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import axePath from "axe-core/axe.min.js" with { type: "file" };
import { renderDesign } from "../../src/admin/design";
import { type Assets, createAssets, linkedAssets, UI_ASSETS } from "../../src/ui";

const CHROMIUM = "/usr/bin/chromium";
/** A name of a home network, which is no secure context. */
const PLAIN_HOST = "nas";

export interface Look extends BrowserContextOptions {
  /** Visit it as `http://nas/`, where browsers withhold the clipboard. */
  isPlainHost?: boolean;
  path?: string;
}

export interface Gallery {
  /** Opens the page of all components, as it is served: with its assets and under its policy. */
  open(look?: Look): Promise<Page>;
  /** Returns the violations that axe-core finds on an open page, one per line. */
  axe(page: Page): Promise<string[]>;
  /** Requests of pages since the last `open`: method, path and body. */
  requests: string[];
  /** Errors of pages since then, and violations of their content security policy. */
  complaints: string[];
  /** Answers of the server by method and path; by default the page of all components. */
  answers: Map<string, (request: Request) => Response | Promise<Response>>;
}

/** Describes tests that look at the components in a real browser. Skipped, loudly, without Chromium. */
export function describeGallery(name: string, body: (gallery: () => Gallery) => void): void {
  if (!existsSync(CHROMIUM)) {
    if (process.env["CI"]) throw new Error(`CI needs a browser at ${CHROMIUM}`);
    console.warn(`SKIPPED: “${name}” needs a browser at ${CHROMIUM}`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => {
    let browser: Browser;
    let server: Bun.Server<undefined>;
    let gallery: Gallery;

    beforeAll(async () => {
      const served = await serveDesign();
      server = served.server;
      browser = await chromium.launch({
        executablePath: CHROMIUM,
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-background-networking",
          `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
        ],
      });
      gallery = createGallery(browser, Number(server.port), served);
    }, 60_000);

    afterAll(async () => {
      await browser?.close();
      await server?.stop(true);
    });

    body(() => gallery);
  });
}

type Served = Pick<Gallery, "requests" | "answers"> & { server: Bun.Server<undefined> };

async function serveDesign(): Promise<Served> {
  const assets = createAssets(UI_ASSETS);
  const design = renderDesign(linkedAssets(), Date.now());
  const requests: string[] = [];
  const answers: Gallery["answers"] = new Map();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname.startsWith("/assets/")) return asset(assets, pathname);
      const body = request.method === "POST" ? ` ${await request.clone().text()}` : "";
      requests.push(`${request.method} ${pathname}${search}${body}`);
      const answer = answers.get(`${request.method} ${pathname}`);
      if (answer) return answer(request);
      return new Response(design.html, {
        headers: {
          "Content-Type": "text/html;charset=utf-8",
          "Content-Security-Policy": design.policy,
        },
      });
    },
  });
  return { server, requests, answers };
}

async function asset(assets: Assets, path: string): Promise<Response> {
  const found = await assets.find(path.replace("/assets/", ""));
  const mediaType = UI_ASSETS.find(({ name }) => name.endsWith(path.slice(path.lastIndexOf("."))));
  if (!found || !mediaType) return new Response(null, { status: 404 });
  return new Response(found.bytes, { headers: { "Content-Type": mediaType.mediaType } });
}

function createGallery(browser: Browser, port: number, served: Served): Gallery {
  const { requests, answers } = served;
  const complaints: string[] = [];
  return {
    requests,
    answers,
    complaints,
    async open({ isPlainHost = false, path = "/admin/_design", ...options } = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      requests.length = 0;
      complaints.length = 0;
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      await page.goto(`http://${isPlainHost ? PLAIN_HOST : "127.0.0.1"}:${port}${path}`);
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
