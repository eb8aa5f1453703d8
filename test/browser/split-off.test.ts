import { expect, test } from "bun:test";
import { listIncidents } from "../../src/features/incidents/records";
import { readOutages } from "../../src/features/incidents/outage-store";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { createTestClock } from "../support/clock";
import { createStorm } from "../support/storm-site";

describeWithBrowser("splitting outages off an incident", (browser) => {
  test.each([
    { name: "with a script", javaScriptEnabled: true, width: 1_280 },
    { name: "without one", javaScriptEnabled: false, width: 1_280 },
    { name: "with a script, on a phone", javaScriptEnabled: true, width: 360 },
    { name: "without one, on a phone", javaScriptEnabled: false, width: 360 },
  ])(
    "works for monitors of the list and of its fold, after an error that keeps the selection: $name",
    async ({ javaScriptEnabled, width }) => {
      await using site = await openSite(browser(), { clock: createTestClock() });
      const { app } = site;
      const storm = await createStorm(app, { count: 8 });
      const session = await app.signedIn("editor");
      const viewport = { width, height: 800 };
      const options = { session, javaScriptEnabled, viewport };
      const { page, errors } = await site.visit(storm.path, options);
      const split = page.getByRole("button", { name: "Split off" });
      const fold = page.locator("#detected-by summary");
      expect(await page.getByLabel("Select Push gateway").isVisible()).toBe(false);

      await split.click();
      await page.getByText("Select at least one monitor.").waitFor();
      // The error is in sight, far below the head of the screen.
      const top = await page.locator("#field-monitors-error").evaluate((element) => {
        const box = element.getBoundingClientRect();
        return box.top >= 0 && box.bottom <= innerHeight;
      });
      expect(top).toBe(true);

      await page.getByLabel("Select API").check();
      await fold.click();
      await page.getByLabel("Select Job queue").check();
      for (const [index, id] of storm.monitors.entries()) {
        // oxlint-disable-next-line no-await-in-loop
        if (index === 1) await storm.enter(id, "up");
      }
      await split.click();
      await page.getByText("A selected monitor is no longer down in this incident.").waitFor();
      // The selection in the fold is kept, and the fold is open.
      expect(await page.getByLabel("Select Job queue").isChecked()).toBe(true);
      expect(await page.getByLabel("Select Job queue").isVisible()).toBe(true);

      await split.click();
      await page.getByText("1 monitor split off.").waitFor();
      await page.getByRole("link", { name: "Open the new incident" }).click();
      await page.getByRole("heading", { level: 1, name: "Web app is unavailable" }).waitFor();
      const [created] = listIncidents(app.ctx.db, { limit: 1 });
      if (!created) throw new Error("a new incident is listed first");
      expect(readOutages(app.ctx.db, created.row).failingMonitorIds).toEqual([
        storm.monitors[6] ?? "",
      ]);
      const hidden = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(hidden).toBe(0);
      expect(errors.filter((line) => !/status of 4/.test(line))).toEqual([]);
    },
    600_000,
  );

  test("waits with the refresh of the list while monitors are selected", async () => {
    await using site = await openSite(browser(), { clock: createTestClock() });
    const { app } = site;
    const storm = await createStorm(app, { count: 8 });
    const session = await app.signedIn("editor");
    const { page } = await site.visit(storm.path, { session, isLive: true });
    await page.getByLabel("Select API").check();
    await page.getByText("Paused while you write").waitFor();
    await storm.enter(storm.monitors[0] ?? "", "up");
    const text = page.locator("#detected-by .detail-head .muted");
    await page.getByRole("button", { name: /^Show \d+ changes?$/ }).waitFor();
    expect(await text.textContent()).toBe("All down");
    expect(await page.getByLabel("Select API").isChecked()).toBe(true);
    await page.getByLabel("Select API").uncheck();
    await page.locator("h1").click();
    await page.getByText("7 still down").waitFor();
  }, 600_000);
});
