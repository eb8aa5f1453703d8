import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { arrange } from "../support/grouped-site";
import { openAcme, openScreen, turn } from "../support/live-screen";
import { updateGroup } from "../support/examined";

const VERSION = /\/status\/acme\/version$/;

/** Counts the animations that the page starts, by the text of their element. */
async function countFades(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const faded: string[] = [];
    Reflect.set(window, "faded", faded);
    Element.prototype.animate = function (this: Element) {
      faded.push(this.textContent ?? "");
      return new Animation();
    };
  });
  return () => page.evaluate(() => Reflect.get(window, "faded") as string[]);
}

describeWithBrowser("parts that refresh themselves", (browser) => {
  test("a folded group of an open status page opens when something in it fails, and stays closed afterwards if a reader closes it", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    const { ids } = await arrange(app);
    await app.ctx.db.write((tx) => {
      for (const name of ["Core", "Edge"]) {
        const input = { collapse: "collapsed_unless_incident" } as const;
        updateGroup(app.ctx, tx, ids[name] ?? "", input, CLI_ACTOR);
      }
    });
    const key = await app.keyWith("write:incidents");
    const report = (name: string) => {
      const json = { page: "acme", name, body: "x", components: { [ids["API"] ?? ""]: STATUS } };
      return app.call("/api/v1/incidents", { method: "POST", key, json });
    };
    const { page } = await site.visit("/docs/errors");
    await page.clock.install();
    await page.goto(`${site.origin}/status/acme`);
    const group = page.locator("details.group", { hasText: "Core" });
    const other = page.locator("details.group", { hasText: "Edge" });
    const isOpen = () => group.evaluate((element) => (element as HTMLDetailsElement).open);
    expect(await isOpen()).toBe(false);
    expect((await report("The API is down")).status).toBe(201);
    const refresh = async (heading: string) => {
      const answer = page.waitForResponse(VERSION);
      await page.clock.runFor(15_000);
      await answer;
      await page.getByRole("heading", { name: heading }).waitFor();
    };
    await refresh("The API is down");
    expect(await isOpen()).toBe(true);
    expect(await other.getAttribute("open")).toBeNull();
    await group.locator("> summary").click();
    expect((await report("The API is slow")).status).toBe(201);
    await refresh("The API is slow");
    expect(await isOpen()).toBe(false);
  }, 600_000);

  test("a count that a refresh changes fades once, and not for readers who prefer less motion", async () => {
    await using site = await openSite(browser());
    const { session, report } = await openAcme(site);
    await report("The first one");
    const { page } = await openScreen(site, "/admin/pages", session);
    const faded = await countFades(page);
    await turn(page);
    expect(await faded()).toEqual([]);
    await report("The second one");
    await turn(page);
    await page.locator("#menu-links .n", { hasText: "2" }).waitFor();
    const counts = (await faded()).filter((text) => text === "2 open");
    // Once in the sidebar and once in the tab bar.
    expect(counts).toHaveLength(2);
    await turn(page);
    expect((await faded()).filter((text) => text === "2 open")).toHaveLength(2);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await report("The third one");
    await turn(page);
    await page.locator("#menu-links .n", { hasText: "3" }).waitFor();
    expect((await faded()).filter((text) => text === "3 open")).toEqual([]);
  }, 600_000);
});

const STATUS = "major_outage";
