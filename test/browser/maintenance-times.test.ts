import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { describeInBrowser } from "../support/browser";
import { planMaintenance } from "../support/examined";

describeInBrowser("planning maintenance in a browser", (site) => {
  test("a typed time is shown in the time zones of page and user until it is cleared", async () => {
    const { app, visit } = site();
    await app.page({ slug: "berlin", name: "Berlin", time_zone: "Europe/Berlin" });
    const session = await app.signedIn("editor");
    const { page } = await visit("/admin/maintenance/new?page=berlin", {
      session,
      timezoneId: "America/New_York",
    });
    const begins = page.getByLabel("Starts at (UTC)");
    const zones = page.locator("#field-scheduled_for-zones");
    await begins.fill("2027-03-28T02:00");
    expect(await zones.textContent()).toBe(
      "Europe/Berlin: Sun, 28 Mar 2027, 04:00 CEST · America/New_York: Sat, 27 Mar 2027, 22:00 GMT-4",
    );
    await begins.fill("");
    expect(await zones.textContent()).toBe("");
    await page.context().close();
  }, 600_000);

  test("a user's time is read in their zone and shown in that of the page, and the clock's changes are named", async () => {
    const { app, axe, visit } = site();
    await app.page({ slug: "tokyo", name: "Tokyo", time_zone: "Asia/Tokyo" });
    const session = await app.signedIn("editor");
    const { page, errors } = await visit("/admin/settings/account", {
      session,
      timezoneId: "Europe/Berlin",
    });
    await page.getByRole("button", { name: "Use Europe/Berlin" }).click();
    expect(await page.getByRole("combobox", { name: "Time zone" }).inputValue()).toBe(
      "Europe/Berlin",
    );
    await page.getByRole("button", { name: "Save time zone" }).click();
    await page.getByText("Your time zone was changed.").waitFor();
    expect(await page.getByRole("button", { name: "Use Europe/Berlin" }).count()).toBe(0);
    await page.goto(`${new URL(page.url()).origin}/admin/maintenance/new?page=tokyo`);
    const begins = page.getByLabel("Starts at (Europe/Berlin)");
    const zones = page.locator("#field-scheduled_for-zones");
    await begins.fill("2027-07-10T02:00");
    expect(await zones.textContent()).toBe(
      "Asia/Tokyo: Sat, 10 Jul 2027, 09:00 GMT+9 · UTC: Sat, 10 Jul 2027, 00:00 UTC",
    );
    await begins.fill("2027-03-28T02:30");
    expect(await zones.textContent()).toBe("The clock in Europe/Berlin skips this time.");
    await begins.fill("2027-10-31T02:30");
    expect(await zones.textContent()).toBe("The clock in Europe/Berlin shows this time twice.");
    await begins.fill("2027-10-31T03:30");
    expect(await zones.textContent()).toEndWith("UTC: Sun, 31 Oct 2027, 02:30 UTC");
    expect(await axe(page)).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  }, 600_000);

  test("the confirmation dialog to cancel maintenance has unique ids and submits its message", async () => {
    const { app, axe, visit } = site();
    const { page: own } = await app.page({ slug: "dialog", name: "Dialog" });
    const planned = await app.ctx.db.write((tx) =>
      planMaintenance(
        app.ctx,
        tx,
        {
          page: own.id,
          name: "Database upgrade",
          body: "A minute without search.",
          components: [],
          scheduled_for: "2100-01-01T02:00:00Z",
          scheduled_until: "2100-01-01T03:00:00Z",
        },
        CLI_ACTOR,
      ),
    );
    const session = await app.signedIn("editor");
    const { page, errors } = await visit(`/admin/maintenance/${planned.id}`, { session });
    await page.locator(".screen-head .more-menu > summary").click();
    await page.getByRole("link", { name: "Cancel maintenance" }).click();
    const dialog = page.getByRole("dialog");
    const ids = await page.locator("[id]").evaluateAll((found) => found.map(({ id }) => id));
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
    await dialog.getByText("Message", { exact: true }).click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("No longer needed.");
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Cancel maintenance" }).click();
    await page.getByText("The maintenance is cancelled.").waitFor();
    expect(await page.locator(".timeline").textContent()).toContain("No longer needed.");
    expect(errors).toEqual([]);
    await page.context().close();
  }, 600_000);
});
