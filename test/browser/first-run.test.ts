import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { listAllKeys } from "../../src/features/keys/records";
import { issueSetUpLink } from "../../src/features/users/invitations";
import { listAllWebhooks } from "../../src/features/webhooks/store";
import { storeFirstRun } from "../../src/first-run";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";

/** Most clicks of a first run, from the set-up link to a resolved incident, besides typing. One copies the key. */
const CLICKS_MAX = 15;

describeWithBrowser("a first run", (browser) => {
  test.each([
    { viewport: { width: 1_280, height: 800 } },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    { viewport: { width: 1_280, height: 800 }, javaScriptEnabled: false },
  ])(
    "a first run from the set-up link to a resolved incident takes 15 clicks at most: %o",
    async (options) => {
      await using site = await openSite(browser());
      const { app, origin } = site;
      await storeFirstRun(app.ctx);
      const token = await app.ctx.db.write((tx) => issueSetUpLink(app.ctx, tx));
      const { page, errors } = await site.visit(`/admin/setup/${token}`, options);
      const clicks: string[] = [];
      const click = (what: string, target: Locator) => press(page, clicks, what, target);
      const button = (name: string) => page.getByRole("button", { name, exact: true });
      const link = (name: string) => page.getByRole("link", { name, exact: true });

      await page.getByLabel("Your name").fill("Ada");
      await page.getByLabel("E-mail").fill("ada@example.com");
      await page.getByLabel("Password").fill("a wall of words");
      await click("Set up", button("Set up"));

      await click("open page form", link("Create page").first());
      await page.getByLabel("Name", { exact: true }).fill("Acme");
      await page.getByLabel("Components").fill("Shop\nCheckout\nSearch");
      await click("create page", button("Create page"));

      await click("open monitor form", link("Next: Create monitor"));
      await page.getByLabel("URL", { exact: true }).fill("https://shop.example.com/");
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      const address = "https://hooks.example.com/services/acme";
      await page.getByRole("textbox", { name: "Address", exact: true }).fill(address);
      await click("create monitor", button("Create monitor"));

      await click("open key form", link("Next: Create API Key"));
      await click("create key", button("Create API Key"));
      await page.locator("[data-secret]").first().waitFor();
      // Without a script, there is no button that copies.
      if (options.javaScriptEnabled !== false) await click("copy key", button("Copy key"));
      await click("open overview", link("I have stored it"));
      await click("open report", link("Report incident").first());
      await page.getByLabel("Name", { exact: true }).fill("Orders fail");
      await page.getByRole("textbox", { name: "First message" }).fill("We are looking into it.");
      clicks.push("open statuses", "choose status");
      await page.getByLabel("Shop", { exact: true }).selectOption("partial_outage");
      await click("publish incident", button("Publish incident"));
      await click("choose Resolved", page.getByRole("radio", { name: "Resolved" }));
      await page.getByRole("textbox", { name: "Message" }).fill("Orders work again.");
      await click("publish update", button("Publish update"));
      await page.getByText("Orders work again.").first().waitFor();

      expect(clicks.length, clicks.join(", ")).toBeLessThanOrEqual(CLICKS_MAX);
      await page.goto(`${origin}/`);
      expect(await page.title()).toContain("Acme");
      for (const name of ["Shop", "Checkout", "Search"]) {
        await page.getByText(name, { exact: true }).first().waitFor();
      }
      await page.getByRole("link", { name: "Orders fail" }).first().waitFor();
      expect(listAllWebhooks(app.ctx.db, {}).map(({ url }) => url)).toEqual([address]);
      expect(listAllKeys(app.ctx.db).map(({ name }) => name)).toEqual(["CI incident bot"]);
      const types = app.events().map(({ type }) => type);
      expect(types).toEqual(expect.arrayContaining(["incident.created", "incident.resolved"]));
      expect(errors).toEqual([]);
    },
    600_000,
  );
});

/** Presses something that is visible without scrolling sideways, and counts it. */
async function press(page: Page, clicks: string[], what: string, target: Locator): Promise<void> {
  clicks.push(what);
  await target.click();
  await page.waitForLoadState("load");
}
