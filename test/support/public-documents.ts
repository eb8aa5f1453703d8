import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { runAxeOnCopy } from "./axe";
import { describeInBrowser } from "./browser";
import type { BrowserSite, VisitOptions } from "./browser-site";
import { updateComponent } from "./examined";

/** Preferences of a reader that change the colours of a document. */
export type Theme = NonNullable<Parameters<Page["emulateMedia"]>[0]>;

const LIGHT: Theme = { colorScheme: "light", forcedColors: "none", contrast: "no-preference" };

export const PHONE = { width: 390, height: 844 };

/** Time limit of a test that checks all public documents, in milliseconds. */
export const ALL_DOCUMENTS_MS = 120_000;

/** Creates a page with incidents and maintenance, and returns the paths of its documents. */
async function createDocuments({ app }: BrowserSite): Promise<Record<string, string>> {
  const { components } = await app.page(
    { slug: "acme", name: "Acme", description: "All of it", time_zone: "Asia/Tokyo" },
    ["API", "Web"],
  );
  const { API: api = "", Web: web = "" } = components;
  const key = await app.keyWith("write:incidents", "write:maintenance");
  const send = async (method: string, path: string, json: object) =>
    (await app.call(`/api/v1${path}`, { method, key, json })).body;
  const now = app.clock.now();
  const body = "# Why\n\nSee [this](https://a.example).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> so";
  const start_date = toIso(now - 20 * DAY_MS).slice(0, 10);
  await app.ctx.db.write((tx) => updateComponent(app.ctx, tx, web, { start_date }, CLI_ACTOR));
  await send("POST", "/incidents", {
    page: "acme",
    name: "It was down",
    body,
    started_at: toIso(now - 5 * DAY_MS),
    resolved_at: toIso(now - 5 * DAY_MS + HOUR_MS),
    components: { [web]: "major_outage" },
  });
  const past = await send("POST", "/incidents", {
    page: "acme",
    name: "It was slow",
    body,
    started_at: toIso(now - 2 * DAY_MS),
    resolved_at: toIso(now - 2 * DAY_MS + HOUR_MS),
    components: { [web]: "degraded_performance" },
  });
  await send("PUT", `/incidents/${past.id}/postmortem`, { body, publish: true });
  const open = await send("POST", "/incidents", {
    page: "acme",
    name: "API is down",
    body: "We look into it.",
    components: { [api]: "major_outage" },
  });
  await send("POST", `/incidents/${open.id}/updates`, { status: "identified", body });
  const planned = await send("POST", "/maintenance", {
    page: "acme",
    name: "Upgrade",
    body,
    components: [web],
    scheduled_for: toIso(now + DAY_MS),
    scheduled_until: toIso(now + DAY_MS + HOUR_MS),
  });
  return {
    home: "/",
    incident: `/status/acme/incidents/${open.id}`,
    "an incident with its post-mortem": `/status/acme/incidents/${past.id}`,
    maintenance: `/status/acme/maintenance/${planned.id}`,
    history: "/status/acme/history",
    "open incidents": "/status/acme/incidents",
    subscribe: "/status/acme/subscribe",
    "an empty month": "/status/acme/history?month=2020-01",
  };
}

/**
 * Describes tests of public documents in a browser. `documents` returns their paths by name and
 * creates them on its first call.
 */
export function describePublicDocuments(
  name: string,
  body: (site: () => BrowserSite, documents: () => Promise<Record<string, string>>) => void,
): void {
  describeInBrowser(name, (site) => {
    let paths: Promise<Record<string, string>> | undefined;
    body(site, () => (paths ??= createDocuments(site())));
  });
}

/** Opens every `details` element of a document. */
export function openAll(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
}

/**
 * Expects documents without axe violations and console errors that fit their window and load nothing
 * but themselves and their scripts. In each of the other `themes`, which change colours only, it
 * checks the contrast.
 */
export async function expectAccessible(
  { visit, axe, origin }: BrowserSite,
  paths: readonly string[],
  look: VisitOptions,
  themes: readonly Theme[] = [],
): Promise<void> {
  const { page, requests, errors } = await visit("/docs/errors", look);
  for (const path of paths) {
    requests.length = 0;
    await page.emulateMedia(LIGHT);
    await page.goto(origin + path);
    await openAll(page);
    expect(errors).toEqual([]);
    const [own, ...scripts] = requests.filter((url) => !url.startsWith("data:"));
    expect(own).toBe(origin + path);
    expect(scripts.length).toBeGreaterThan(0);
    for (const url of scripts) {
      expect(url).toStartWith(origin);
      expect(url).toMatch(/\/assets\/(page|copy)\.[0-9a-f]{16}\.js$/);
    }
    expect(await axe(page)).toEqual([]);
    expect(errors).toEqual([]);
    expect(await isWiderThanWindow(page)).toBe(false);
    for (const theme of themes) {
      await page.emulateMedia({ ...LIGHT, ...theme });
      expect(await axe(page, "only")).toEqual([]);
      expect(await isWiderThanWindow(page)).toBe(false);
    }
  }
  await page.context().close();
}

/** Returns true if a page is wider than its window. Waits for a document: between two pages there is none. */
export function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.locator("html").evaluate((html) => html.scrollWidth > innerWidth);
}

/** Expects that an open page fits its window and has no violations. `copy` is a window with scripts: see `runAxeOnCopy`. */
export async function expectAccessibleCopy(page: Page, copy: Page): Promise<void> {
  expect(await isWiderThanWindow(page)).toBe(false);
  expect(await runAxeOnCopy(page, copy)).toEqual([]);
}
