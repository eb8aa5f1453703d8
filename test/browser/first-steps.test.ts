import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { storeFirstRun } from "../../src/first-run";
import { issueSetUpLink } from "../../src/features/users/invitations";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";

describeWithBrowser("the first steps after the set-up", (browser) => {
  test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    "the first steps lead from the set-up to a page of one's own: %o",
    async (options) => {
      await using site = await openSite(browser());
      const { app } = site;
      await storeFirstRun(app.ctx);
      const token = await app.ctx.db.write((tx) => issueSetUpLink(app.ctx, tx));
      const timezoneId = "Europe/Berlin";
      const { page, errors } = await site.visit(`/admin/setup/${token}`, {
        ...options,
        timezoneId,
      });
      await page.getByLabel("Your name").fill("Ada");
      await page.getByLabel("E-mail").fill("ada@example.com");
      await page.getByLabel("Password").fill("a wall of words");
      await page.getByRole("button", { name: "Set up" }).click();
      const zone = await page.locator(".bar-time time").getAttribute("data-time-zone");
      expect(zone).toBe(options.javaScriptEnabled ? timezoneId : "UTC");

      await takeStep(page, site.origin, 0, "Create page");
      await page.getByLabel("Name", { exact: true }).fill("Acme");
      await page.getByRole("button", { name: "Create page" }).click();
      await page.getByText("The page was created.").waitFor();

      await takeStep(page, site.origin, 1, "Add component");
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await page.getByRole("button", { name: "Add component" }).click();
      await page.getByText("“Shop” was added.").waitFor();

      await takeStep(page, site.origin, 2, "Create monitor");
      await page.getByLabel("URL", { exact: true }).fill("https://shop.example.com/");
      await page.getByLabel("Name", { exact: true }).fill("Shop");
      await page.getByRole("button", { name: "Create monitor" }).click();
      await page.getByText("The monitor was created.").waitFor();

      await takeStep(page, site.origin, 3, "Create webhook");
      await page.getByLabel("URL").fill("https://hooks.example.com/acme");
      await page.getByRole("button", { name: "Create webhook" }).click();
      await page.getByText("shown only once").first().waitFor();

      await page.goto(`${site.origin}/admin`);
      expect(await page.getByRole("heading", { name: "First steps" }).count()).toBe(0);
      await page.goto(`${site.origin}/`);
      await page.getByText("Shop").first().waitFor();
      expect(await page.title()).toContain("Acme");
      expect(errors).toEqual([]);
    },
    600_000,
  );
});

/** Opens the overview, on which `done` steps are ticked, and follows the button of the next one. */
async function takeStep(page: Page, origin: string, done: number, label: string): Promise<void> {
  await page.goto(`${origin}/admin`);
  await page.getByText(`${done} of 5 done`).waitFor();
  await page.getByRole("link", { name: label }).first().click();
}
