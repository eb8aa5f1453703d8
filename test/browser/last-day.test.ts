import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

describeInBrowser("the last day of a key", (site) => {
  test("the end of the day is shown in the time zone of the reader while a day is typed", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit("/admin/settings/keys/new", {
      session,
      timezoneId: "America/New_York",
    });
    await page.getByLabel("On a date").check();
    const day = page.getByLabel("Expiration date");
    const zones = page.locator("#field-expires_date-zones");
    await day.fill("2027-02-20");
    expect(await zones.textContent()).toBe(
      "Ends at America/New_York: Sat, 20 Feb 2027, 19:00 GMT-5",
    );
    await day.fill("");
    expect(await zones.textContent()).toBe("");
    await page.context().close();
  }, 600_000);
});
