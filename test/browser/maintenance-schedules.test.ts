import { expect, test } from "bun:test";
import { listSchedules } from "../../src/features/maintenance/schedules/store";
import { describeInBrowser } from "../support/browser";

const NEW = "/admin/maintenance/schedules/new";

describeInBrowser("the form for a maintenance schedule in a browser", (site) => {
  test("shows the next five occurrences of what is typed, and writes nothing", async () => {
    const { app, axe, visit } = site();
    await app.page({ slug: "typed", name: "Typed", time_zone: "Europe/Berlin" });
    const session = await app.signedIn("editor");
    const { page } = await visit(`${NEW}?page=typed`, { session });
    const rows = page.locator("[data-occurrences] li");
    expect(await rows.count()).toBe(5);
    await page.getByLabel("Name").fill("Restart");
    await page.getByLabel("Repeats").selectOption("month_weekday");
    await page.getByLabel("Week of the month").selectOption("2");
    await page.getByLabel("Day of the week").selectOption("TUE");
    await page.getByLabel("Time", { exact: true }).fill("03:15");
    await rows.filter({ hasText: "03:15" }).first().waitFor();
    for (const text of await rows.allTextContents()) {
      expect(text).toMatch(/^Tue, (?:8|9|1[0-4]) .*, 03:15–04:15 CES?T$/);
    }
    await page.getByLabel("Repeats").selectOption("weekly");
    expect(await page.getByLabel("Week of the month").isVisible()).toBe(false);
    await page.getByLabel("Sunday").uncheck({ force: true });
    await page.getByText("None. Check the times").waitFor();
    await page.getByLabel("Friday").check({ force: true });
    await rows
      .filter({ hasText: /^Fri, .* 03:15/ })
      .first()
      .waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel("Repeats").selectOption("cron");
    expect(await page.getByLabel("Time", { exact: true }).isVisible()).toBe(false);
    await page.getByLabel("Cron expression").fill("30 1 1 1 *");
    await rows.filter({ hasText: "01:30" }).first().waitFor();
    expect(await rows.allTextContents()).toHaveLength(5);
    expect(await rows.first().textContent()).toContain("01:30–02:30 CET");
    await page.getByLabel("Time zone").fill("America/New_York");
    await rows
      .filter({ hasText: /EST|GMT-5/ })
      .first()
      .waitFor();
    await page.getByLabel("Cron expression").fill("30 1 31 2 *");
    await page.getByText("None. Check the times").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.getByLabel("Name").inputValue()).toBe("Restart");
    expect(listSchedules(app.ctx.db)).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("shows them by its button without JavaScript", async () => {
    const { app, visit } = site();
    await app.page({ slug: "plain", name: "Plain" });
    const session = await app.signedIn("editor");
    const { page } = await visit(`${NEW}?page=plain`, { session, javaScriptEnabled: false });
    await page.getByLabel("Repeats").selectOption("month_day");
    await page.getByLabel("Day of the month").selectOption("L");
    await page.getByLabel("Time", { exact: true }).fill("04:15");
    await page.getByRole("button", { name: "Show next occurrences" }).click();
    const rows = page.locator("[data-occurrences] li");
    expect(await rows.first().textContent()).toContain("04:15–05:15 UTC");
    expect(await page.getByLabel("Day of the month").inputValue()).toBe("L");
    expect(listSchedules(app.ctx.db)).toEqual([]);
    await page.context().close();
  }, 600_000);
});
