import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite } from "../support/browser-site";
import { CLI_ACTOR } from "../../src/base/actor";
import { listAllPages } from "../../src/features/pages/store";
import { setHidden } from "../support/hidden-tab";
import { updatePage } from "../support/examined";

const VERSION = /\/status\/acme\/version$/;
/** More than the longest time between two requests. */
const A_TURN_MS = 15_000;
const A_STEP_MS = 1_000;

/** Opens a tab whose timers the test owns. */
async function openTab(site: BrowserSite, path = "/status/acme") {
  const visit = await site.visit("/docs/errors");
  await visit.page.clock.install();
  await visit.page.addInitScript(countRequests);
  await visit.page.goto(site.origin + path);
  const asked = () => visit.requests.filter((url) => VERSION.test(url)).length;
  return { ...visit, asked };
}

/** Counts the requests of a tab's script in the tab itself: a browser reports them later. */
function countRequests(): void {
  const send = window.fetch;
  Reflect.set(window, "sent", 0);
  Reflect.set(window, "fetch", (...request: Parameters<typeof fetch>) => {
    Reflect.set(window, "sent", Number(Reflect.get(window, "sent")) + 1);
    return send(...request);
  });
}

/** Lets the time of a tab pass until it has asked for the version. */
async function turn(page: Page, ms = A_TURN_MS) {
  const answer = page.waitForResponse(VERSION);
  // A tab that loads its page again has asked: it cannot be evaluated meanwhile.
  const sent = () =>
    page.evaluate(() => Number(Reflect.get(window, "sent"))).catch(() => undefined);
  const before = await sent();
  // No further than that, since the time limit of a request passes as well.
  for (let passed = 0; passed < ms && (await sent()) === before; passed += A_STEP_MS) {
    await page.clock.runFor(A_STEP_MS);
  }
  return answer;
}

/** Waits until the script has handled the answers that arrived: a later one is read in the same tab. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => (await fetch("/robots.txt")).text());
}

/** Serves a page with two components. `report` opens an incident on one of them. */
async function openAcme(site: BrowserSite) {
  const { components } = await site.app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const key = await site.app.keyWith("write:incidents");
  return {
    async report(name: string) {
      const status = "major_outage";
      const json = {
        page: "acme",
        name,
        body: "We look.",
        components: { [components["API"] ?? ""]: status },
      };
      const answer = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
      expect(answer.status).toBe(201);
    },
  };
}

describeWithBrowser("an open status page", (browser) => {
  test("a change appears in two open tabs with title, favicon and headline, and is announced once", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    const tabs = [await openTab(site), await openTab(site, "/")];
    const icons = await Promise.all(tabs.map(({ page }) => iconOf(page)));
    await report("The API is down");
    for (const [index, { page, errors }] of tabs.entries()) {
      await watchRegion(page);
      expect(await page.locator("[data-live-note]").textContent()).toBe("· refreshes by itself");
      await page.locator(".day-table summary").first().click();
      await turn(page);
      await page.getByRole("heading", { name: "The API is down" }).waitFor();
      expect(await page.title()).toContain("ystem outage · Acme");
      expect(await page.locator(".banner h1").textContent()).toContain("ystem outage");
      expect(await iconOf(page)).not.toBe(icons[index] ?? "");
      expect(await page.locator(".day-table").first().getAttribute("open")).not.toBeNull();
      expect(await page.getByRole("status").textContent()).toBe(
        "Major system outage. API has a major outage. Everything else works as usual.",
      );
      await turn(page);
      await turn(page);
      expect(await page.evaluate(() => Reflect.get(window, "announced"))).toBe(1);
      expect(errors).toEqual([]);
    }
  }, 600_000);

  test("an unchanged page is not fetched again, and its time stays current", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page, requests } = await openTab(site);
    const loaded = requests.filter((url) => url.endsWith("/status/acme")).length;
    const time = page.locator(".banner time");
    const before = await time.getAttribute("datetime");
    expect((await turn(page)).status()).toBe(200);
    expect((await turn(page)).status()).toBe(304);
    await page.waitForFunction(
      (old) => document.querySelector<HTMLTimeElement>(".banner time")?.dateTime !== old,
      before,
    );
    expect(requests.filter((url) => url.endsWith("/status/acme"))).toHaveLength(loaded);
  }, 600_000);

  test("the focus stays on its element when an incident appears above it", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    const { page } = await openTab(site);
    await page.locator(".day-table summary").last().focus();
    const focused = await page.evaluateHandle(() => document.activeElement);
    await report("The API is down");
    await turn(page);
    await page.getByRole("heading", { name: "The API is down" }).waitFor();
    expect(await focused.evaluate((element) => element === document.activeElement)).toBe(true);
  }, 600_000);

  test("the text of a day stays while the page refreshes, shows what changed, and keeps the focus on its link", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    await report("The API is down");
    await site.app.clock.advance(60_000);
    const { page } = await openTab(site);
    const note = page.locator("[data-day-note]").first();
    await page.locator("[data-day]").first().focus();
    expect(await note.textContent()).toEndWith(": Major outage (1 min) · The API is down");
    await site.app.clock.advance(60_000);
    await report("The API answers slowly");
    await turn(page);
    await page.getByRole("heading", { name: "The API answers slowly" }).waitFor();
    expect(await note.textContent()).toContain(" · The API is down, The API answers slowly");
    expect(await page.locator("[data-day]:focus").count()).toBe(1);
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("The API is down");
    await report("One more");
    await turn(page);
    await page.getByRole("heading", { name: "One more" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator("[data-day]:focus").count()).toBe(1);
    expect(await note.textContent()).toContain("The API answers slowly, One more");
    await page.keyboard.press("Tab");
    expect(await note.textContent()).toBe("");
  }, 600_000);

  test("a hidden tab asks nothing, and asks at once when it is shown again", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page, asked } = await openTab(site);
    await setHidden(page, true);
    await page.clock.runFor(10 * 60_000);
    expect(asked()).toBe(0);
    const answer = page.waitForResponse(VERSION);
    await setHidden(page, false);
    await page.clock.runFor(0);
    expect((await answer).status()).toBe(200);
  }, 600_000);

  test("Retry-After of a 429 is honoured, also by a tab that is shown again", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page, asked } = await openTab(site);
    await page.route(VERSION, (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "100" } }),
    );
    expect((await turn(page)).status()).toBe(429);
    await settle(page);
    await page.clock.runFor(90_000);
    await setHidden(page, true);
    await setHidden(page, false);
    await page.clock.runFor(5_000);
    expect(asked()).toBe(1);
    await page.unroute(VERSION);
    expect((await turn(page, 30_000)).status()).toBe(200);
  }, 600_000);

  test("a tab waits for the refill if fewer than 20 requests are left to its address", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page, asked } = await openTab(site);
    await page.route(VERSION, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), ratelimit: '"public";r=19;t=50' };
      await route.fulfill({ response, headers });
    });
    await turn(page);
    await settle(page);
    await page.clock.runFor(45_000);
    expect(asked()).toBe(1);
    await turn(page, 10_000);
  }, 600_000);

  test("a tab asks less often while the server fails, and recovers", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    const { page, asked } = await openTab(site);
    await page.route(VERSION, (route) => route.fulfill({ status: 503 }));
    expect((await turn(page)).status()).toBe(503);
    const note = page.locator("[data-live-note]");
    await note.getByText("not refreshed, trying again").waitFor();
    expect((await turn(page, 30_000)).status()).toBe(503);
    await settle(page);
    await page.clock.runFor(40_000);
    expect(asked()).toBe(2);
    await page.unroute(VERSION);
    await report("The API is down");
    await turn(page, 60_000);
    await page.getByRole("heading", { name: "The API is down" }).waitFor();
    expect(await note.textContent()).toBe("· refreshes by itself");
  }, 600_000);

  test("a request without an answer is given up, and asked again later", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page, asked } = await openTab(site);
    await page.route(VERSION, () => {});
    const asking = page.waitForRequest(VERSION);
    await page.clock.runFor(A_TURN_MS);
    await asking;
    // A tab that returns meanwhile does not ask twice.
    await setHidden(page, true);
    await setHidden(page, false);
    await page.clock.runFor(11_000);
    await page.locator("[data-live-note]").getByText("trying again").waitFor();
    expect(asked()).toBe(1);
    await page.unroute(VERSION);
    expect((await turn(page, 60_000)).status()).toBe(200);
  }, 600_000);

  test("a tab that is shown again and again asks at most once in ten seconds", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page, asked } = await openTab(site);
    for (let round = 0; round < 3; round++) {
      const answer = page.waitForResponse(VERSION);
      await setHidden(page, true);
      await setHidden(page, false);
      await page.clock.runFor(0);
      await answer;
      await settle(page);
      await setHidden(page, true);
      await setHidden(page, false);
      await page.clock.runFor(9_000);
      expect(asked()).toBe(round + 1);
      await setHidden(page, true);
      await page.clock.runFor(60_000);
    }
  }, 600_000);

  test("a tab that comes back from the history of the browser asks at once", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page } = await openTab(site);
    const answer = page.waitForResponse(VERSION);
    await page.evaluate(() =>
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })),
    );
    await page.clock.runFor(0);
    expect((await answer).status()).toBe(200);
  }, 600_000);

  test("times say how long ago they were, and the age grows without a request", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    await report("The API is down");
    const { page, asked } = await openTab(site);
    await setHidden(page, true);
    await setHidden(page, false);
    const began = page.locator("#open .meta time").first();
    expect(await began.textContent()).toEndWith(", just now");
    await page.route(VERSION, (route) => route.abort());
    await page.clock.runFor(3 * 60_000 + 20_000);
    expect(await began.textContent()).toEndWith(", 3 min ago");
    expect(await began.getAttribute("title")).toContain("UTC");
    expect(asked()).toBeGreaterThan(0);
    const plain = await site.visit("/status/acme", { javaScriptEnabled: false });
    expect(await plain.page.locator("#open time").first().textContent()).toEndWith("UTC");
    expect(await plain.page.locator("[data-live-note]").textContent()).toBe("");
  }, 600_000);

  test("a selection of text and its details survive an incident that appears above it", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    await report("The first");
    const { page } = await openTab(site);
    await page.evaluate(() => {
      const text = document.querySelector("#open .newest .text p")?.firstChild as Text;
      getSelection()?.setBaseAndExtent(text, 0, text, 2);
    });
    await report("The second");
    await turn(page);
    await page.getByRole("heading", { name: "The second" }).waitFor();
    expect(await page.evaluate(() => String(getSelection()))).toBe("We");
    expect(await page.locator("#open article").allTextContents()).toHaveLength(2);
    const selected = await page.evaluate(
      () =>
        getSelection()?.anchorNode?.parentElement?.closest("article")?.querySelector("h3")
          ?.textContent,
    );
    expect(selected).toBe("The first");
  }, 600_000);

  test("a page that gets another theme or language is loaded again as a whole", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page } = await openTab(site);
    const { ctx } = site.app;
    await ctx.db.write((tx) => {
      const [row] = listAllPages(tx, {});
      if (row) updatePage(ctx, tx, row.id, { theme: "dark", locale: "de" }, CLI_ACTOR);
    });
    const loaded = page.waitForEvent("load");
    await turn(page);
    await loaded;
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
  }, 600_000);

  test("a tab ignores answers of a network that are no version and no status page", async () => {
    await using site = await openSite(browser());
    const { report } = await openAcme(site);
    const { page } = await openTab(site);
    const portal = "<!doctype html><title>Welcome to our network</title>";
    const note = page.locator("[data-live-note]");
    await page.route(VERSION, (route) => route.fulfill({ contentType: "text/html", body: portal }));
    await turn(page);
    await note.getByText("trying again").waitFor();
    await page.unroute(VERSION);
    await page.route(/\/status\/acme$/, (route) =>
      route.fulfill({ contentType: "text/html", body: portal }),
    );
    await report("The API is down");
    await turn(page, 40_000);
    await settle(page);
    await note.getByText("trying again").waitFor();
    expect(await page.title()).toBe("All systems operational · Acme");
    await page.unroute(/\/status\/acme$/);
    await turn(page, 60_000);
    await page.getByRole("heading", { name: "The API is down" }).waitFor();
  }, 600_000);

  test("a page that becomes private keeps what it showed and says that it is not refreshed", async () => {
    await using site = await openSite(browser());
    await openAcme(site);
    const { page } = await openTab(site);
    const { ctx } = site.app;
    await ctx.db.write((tx) => {
      const [row] = listAllPages(tx, {});
      if (row) updatePage(ctx, tx, row.id, { visibility: "private" }, CLI_ACTOR);
    });
    expect((await turn(page)).status()).toBe(404);
    await page.locator("[data-live-note]").getByText("trying again").waitFor();
    expect(await page.locator("#banner h1").textContent()).toBe("All systems operational");
  }, 600_000);
});

async function iconOf(page: Page): Promise<string> {
  return (await page.locator("link[rel=icon]").getAttribute("href")) ?? "";
}

/** Counts the changes of the region that screen readers announce. */
function watchRegion(page: Page): Promise<void> {
  return page.evaluate(() => {
    Reflect.set(window, "announced", 0);
    const [region] = document.querySelectorAll("[role=status]");
    new MutationObserver(() =>
      Reflect.set(window, "announced", Reflect.get(window, "announced") + 1),
    ).observe(region as Element, { childList: true, characterData: true, subtree: true });
  });
}
