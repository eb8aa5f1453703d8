import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite, type VisitOptions } from "../support/browser-site";
import { createManyComponents, type Ids, reportOn } from "../support/many-components";
import { isWiderThanWindow, openAll, PHONE } from "../support/public-documents";

const VERSION = /\/status\/many\/version$/;
const GROUP = /\/status\/many\/groups\//;

/** Serves a page of 60 components in groups, one of which is not operational, and opens it. */
async function openMany(site: BrowserSite, options: VisitOptions = {}) {
  const ids = await createManyComponents(site.app, { groups: 12, each: 5 });
  await reportOn(site.app, ids, { "Region 1, service 1": "major_outage" }, "The first");
  const opened = await site.visit("/docs/errors", options);
  if (options.javaScriptEnabled !== false) await opened.page.clock.install();
  await opened.page.goto(`${site.origin}/status/many`);
  const { page, requests } = opened;
  return {
    ...opened,
    ids,
    group: (name: string) => page.locator(".groups > .group", { hasText: name }),
    field: page.getByRole("searchbox", { name: "Filter components" }),
    groupRequests: () => requests.filter((url) => GROUP.test(url)).length,
  };
}

/** Changes the page and lets the time of a tab pass until it shows that. */
async function refresh(site: BrowserSite, page: Page, ids: Ids, name: string): Promise<void> {
  await reportOn(site.app, ids, { "Region 1, service 2": "partial_outage" }, name);
  const answer = page.waitForResponse(VERSION);
  await page.clock.runFor(15_000);
  await answer;
  await page.getByRole("heading", { name }).waitFor();
}

describeWithBrowser("a status page with many components", (browser) => {
  test("the days of a group are drawn when it opens, once, and its table and keys work", async () => {
    await using site = await openSite(browser());
    const { page, group, groupRequests, errors } = await openMany(site);
    expect(groupRequests()).toBe(0);
    const region = group("Region 1 5");
    expect(await region.locator(".day-chart").count()).toBe(0);
    await region.locator("> summary").click();
    await region.locator(".day-chart").nth(4).waitFor();
    await region.locator("> summary").click();
    await region.locator("> summary").click();
    await page.clock.runFor(1_000);
    expect(groupRequests()).toBe(1);
    expect(await region.locator(".component").count()).toBe(5);
    await region.locator("[data-day]").last().focus();
    expect(await region.locator("[data-day-note]").textContent()).toContain("Major outage");
    await region.locator(".axis summary").click();
    expect(await region.locator("table").first().isVisible()).toBe(true);
    expect(errors).toEqual([]);
  }, 600_000);

  test("rows do not move when their days are drawn", async () => {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      await using site = await openSite(browser());
      const { page, group } = await openMany(site, { viewport });
      const heights = () =>
        group("Region 2 5")
          .locator(".component")
          .evaluateAll((rows) => rows.map((row) => Math.round(row.getBoundingClientRect().height)));
      await page.route(GROUP, async (route) => {
        before = await heights();
        await route.continue();
      });
      let before: number[] = [];
      await group("Region 2 5").locator("> summary").click();
      await group("Region 2 5").locator(".day-chart").nth(4).waitFor();
      expect(await heights()).toEqual(before);
    }
  }, 600_000);

  test("a refresh keeps open groups open with new days, and the text and the effect of the filter", async () => {
    await using site = await openSite(browser());
    const { page, ids, group, field, errors } = await openMany(site);
    await group("Region 3 5").locator("> summary").click();
    await group("Region 3 5").locator(".day-chart").nth(4).waitFor();
    await field.fill("region 1 SERVICE 2");
    const row = group("Region 1 5").locator(".component:visible");
    await row.locator(".day-chart").waitFor();
    expect(await row.locator("strong").allTextContents()).toEqual(["Region 1, service 2"]);
    await refresh(site, page, ids, "The second");
    expect(await field.inputValue()).toBe("region 1 SERVICE 2");
    expect(await row.locator("strong").allTextContents()).toEqual(["Region 1, service 2"]);
    expect(await row.locator("small.t-partial").textContent()).toBe("Partial outage");
    expect(await row.locator("[data-day]").count()).toBe(1);
    await field.fill("");
    const open = page.locator(".groups > [open] h3 bdi");
    expect(await open.allTextContents()).toEqual(["Region 3"]);
    await refresh(site, page, ids, "The third");
    expect(await open.allTextContents()).toEqual(["Region 3"]);
    expect(await group("Region 3 5").locator(".day-chart").count()).toBe(5);
    expect(errors).toEqual([]);
  }, 600_000);

  test("the filter finds components by their name and group, says how many, and asks for few groups only", async () => {
    await using site = await openSite(browser());
    const { page, field, groupRequests } = await openMany(site);
    const rows = page.locator(".groups .component:visible strong");
    const status = page.locator(".filter [role=status]");
    await field.pressSequentially("serv");
    expect(await rows.count()).toBe(60);
    expect(await status.textContent()).toBe("60 components");
    await page.clock.runFor(1_000);
    expect(groupRequests()).toBe(0);
    await field.fill("region 11 service 3");
    expect(await rows.allTextContents()).toEqual(["Region 11, service 3"]);
    await page.locator(".groups .component:visible .day-chart").waitFor();
    expect(groupRequests()).toBe(1);
    await field.fill("outage");
    expect(await rows.allTextContents()).toEqual(["Region 1, service 1"]);
    await field.fill("nothing of this name");
    expect(await status.textContent()).toBe("No component matches.");
    expect(await page.locator(".groups > .group:visible").count()).toBe(0);
    await field.fill("");
    expect(await page.locator(".groups > .group:visible").count()).toBe(13);
    expect(await page.locator(".groups > [open]").count()).toBe(0);
    expect(await status.textContent()).toBe("");
  }, 600_000);

  test("a group whose days do not come keeps its link to them, and they are drawn when it is opened again", async () => {
    await using site = await openSite(browser());
    const { page, group } = await openMany(site);
    await page.route(GROUP, (route) => route.fulfill({ status: 503 }));
    const region = group("Region 1 5");
    const failed = page.waitForResponse(GROUP);
    await region.locator("> summary").click();
    await failed;
    const link = region.getByRole("link", { name: "Day by day of Region 1" });
    expect(await link.isVisible()).toBe(true);
    await page.unroute(GROUP);
    await region.locator("> summary").click();
    await region.locator("> summary").click();
    await region.locator(".day-chart").nth(4).waitFor();
    expect(await link.count()).toBe(0);
  }, 600_000);

  test("without JavaScript groups open, and a link leads to their days", async () => {
    await using site = await openSite(browser());
    const { page, group, field } = await openMany(site, { javaScriptEnabled: false });
    expect(await field.count()).toBe(0);
    const region = group("Region 1 5");
    await region.locator("> summary").click();
    expect(await region.locator(".component:visible strong").count()).toBe(5);
    await region.getByRole("link", { name: "Day by day of Region 1" }).click();
    await page.waitForURL(GROUP);
    expect(await page.locator("main .day-chart").count()).toBe(5);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Region 1");
  }, 600_000);

  test.each([{ width: 1280, height: 800 }, PHONE, { width: 320, height: 640 }])(
    "the page and the page of a group have no axe violations and fit the window: %o",
    async (viewport) => {
      await using site = await openSite(browser());
      const { page, ids, errors } = await openMany(site, { viewport });
      for (const path of ["/status/many", `/status/many/groups/${ids["Region 1"]}`]) {
        await page.goto(site.origin + path);
        await openAll(page);
        expect(await site.axe(page)).toEqual([]);
        expect(await isWiderThanWindow(page)).toBe(false);
      }
      expect(errors).toEqual([]);
    },
    600_000,
  );

  test("a printed page has the rows of folded groups and no filter", async () => {
    await using site = await openSite(browser());
    const { page, group, field } = await openMany(site);
    expect(await group("Region 1 5").locator(".component").first().isVisible()).toBe(false);
    await page.emulateMedia({ media: "print" });
    expect(await group("Region 1 5").locator(".component").first().isVisible()).toBe(true);
    expect(await field.isVisible()).toBe(false);
  }, 600_000);
});
