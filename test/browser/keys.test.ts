import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";
import { PHONE } from "../support/public-documents";

const KEYS = "/admin/settings/keys";

describeInBrowser("the form for a new key", (site) => {
  test.each([1_280, 390, 320])(
    "no choice of the expiry is broken, and all are in one line if there is room: %i px",
    async (width) => {
      const { app, visit } = site();
      const session = await app.signedIn("admin");
      const viewport = { width, height: 800 };
      const { page } = await visit(`${KEYS}/new`, { session, viewport });
      const labels = page.locator('.choice:has([name="expires"]) label');
      expect(await labels.allTextContents()).toHaveLength(6);
      const places = await labels.evaluateAll((elements) =>
        elements.map((element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return { lines: range.getClientRects().length, top: element.getBoundingClientRect().top };
        }),
      );
      expect(places.map(({ lines }) => lines)).toEqual([1, 1, 1, 1, 1, 1]);
      const rows = new Set(places.map(({ top }) => Math.round(top))).size;
      expect(rows).toBe(width === 1_280 ? 1 : 3);
      await page.context().close();
    },
    600_000,
  );

  test("on a phone, the button of the form is in view above the tab bar", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(`${KEYS}/new`, { session, viewport: PHONE });
    const button = await page.getByRole("button", { name: "Create API Key" }).boundingBox();
    const bar = await page.locator(".tabbar").boundingBox();
    expect((button?.y ?? Infinity) + (button?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
    await page.context().close();
  }, 600_000);
});

describeInBrowser("the last day of a key", (site) => {
  test.each([
    // The clock skips the hour after this day, and repeats the one after that.
    ["America/Santiago", "2027-09-04", ""],
    ["America/Havana", "2027-11-06", "Ends at UTC: Sun, 7 Nov 2027, 04:00 UTC"],
    ["America/Havana", "2027-11-07", "Ends at UTC: Mon, 8 Nov 2027, 05:00 UTC"],
  ])(
    "in %s, %s, ends when the day does",
    async (time_zone, day, note) => {
      const { app, visit } = site();
      const session = await app.signedIn("admin");
      await app.call("/admin/settings/account/time-zone", { session, form: { time_zone } });
      const { page, errors } = await visit(`${KEYS}/new`, { session, timezoneId: "UTC" });
      await page.getByRole("radio", { name: "On a date" }).check();
      await page.getByLabel("Expiration date").fill(day);
      expect(await page.locator("#field-expires_date-zones").textContent()).toBe(note);
      expect(errors).toEqual([]);
      await page.context().close();
    },
    600_000,
  );
});

describeInBrowser("the list of keys", (site) => {
  test.each([true, false])(
    "selected keys are revoked after a question that names them: scripts %p",
    async (javaScriptEnabled) => {
      const { app, visit } = site();
      const names = [`One ${javaScriptEnabled}`, `Two ${javaScriptEnabled}`];
      for (const name of names) await app.createKey({ name });
      const session = await app.signedIn("admin");
      const { page, errors } = await visit(KEYS, { session, javaScriptEnabled });
      const revoke = page.getByRole("button", { name: "Revoke", exact: true });
      expect(await revoke.isVisible()).toBe(false);
      for (const name of names) await page.getByLabel(`Select ${name}`).check();
      await revoke.click();
      await page.getByRole("heading", { name: "Revoke 2 keys?" }).waitFor();
      for (const name of names) await page.getByRole("link", { name, exact: true }).waitFor();
      await page.getByRole("button", { name: "Revoke 2 keys" }).click();
      await page.getByText("2 keys were revoked.").waitFor();
      expect(await page.getByLabel(`Select ${names[0]}`).count()).toBe(0);
      expect(errors).toEqual([]);
      await page.context().close();
    },
    600_000,
  );
});
