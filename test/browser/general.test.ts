import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

const GENERAL = "/admin/settings/general";
const LIGHT = "rgb(240, 243, 240)";
const DARK = "rgb(10, 15, 13)";

describeInBrowser("General in a browser", (site) => {
  test.each([true, false])(
    "a backup is downloaded, with scripts: %p",
    async (javaScriptEnabled) => {
      const { app, visit } = site();
      const session = await app.signedIn();
      const { page } = await visit(GENERAL, { session, javaScriptEnabled });
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Back up now" }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(
        /^allclear-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/,
      );
      const bytes = await Bun.file(await download.path())
        .slice(0, 15)
        .text();
      expect(bytes).toBe("SQLite format 3");
      expect(page.url()).toEndWith(GENERAL);
      await page.context().close();
    },
  );

  test.each([true, false])(
    "the theme of the dashboard overrides that of the device, with scripts: %p",
    async (javaScriptEnabled) => {
      const { app, visit } = site();
      const session = await app.signedIn();
      const options = { session, javaScriptEnabled, colorScheme: "light" } as const;
      const { page } = await visit(GENERAL, options);
      const ground = () =>
        page.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor);
      const choose = async (name: string) => {
        await Promise.all([
          page.waitForEvent("load"),
          page.getByRole("button", { name, exact: true }).click(),
        ]);
      };
      expect(await ground()).toBe(LIGHT);
      await choose("Dark");
      expect([page.url().endsWith(GENERAL), await ground()]).toEqual([true, DARK]);
      await page.goto(new URL("/admin/settings/account", page.url()).href);
      expect(await ground()).toBe(DARK);
      await choose("Light");
      await page.emulateMedia({ colorScheme: "dark" });
      expect([page.url().endsWith("/account"), await ground()]).toEqual([true, LIGHT]);
      await choose("System");
      expect(await ground()).toBe(DARK);
      await page.context().close();
    },
  );
});
