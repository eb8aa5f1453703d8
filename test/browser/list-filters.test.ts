import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

describeInBrowser("the filters of a list", (site) => {
  test("a select acts at once with a script, and by a button without one", async () => {
    const { app, visit } = site();
    await app.page();
    const session = await app.signedIn("owner");
    for (const path of ["/admin/incidents", "/admin/incidents?show=drafts"]) {
      const { page } = await visit(`${path}${path.includes("?") ? "" : "?q=x"}`, { session });
      expect(await page.getByRole("button", { name: "Search", exact: true }).count()).toBe(0);
      await page.getByLabel("Status").selectOption("resolved");
      await page.waitForURL(/show=resolved/);
      await page.getByRole("searchbox", { name: "Search by name" }).fill("disk");
      await page.keyboard.press("Enter");
      await page.waitForURL(/q=disk/);
      await page.context().close();
    }
    const { page } = await visit("/admin/incidents?q=x", { session, javaScriptEnabled: false });
    await page.getByLabel("Status").selectOption("resolved");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.waitForURL(/show=resolved/);
    await page.context().close();
  }, 60_000);
});
