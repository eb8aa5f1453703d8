import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

describeInBrowser("the filters of a list", (site) => {
  test("a select acts at once with a script, and by a button without one", async () => {
    const { app, visit } = site();
    await app.page();
    const session = await app.signedIn("owner");
    for (const path of ["/admin/incidents?q=x", "/admin/incidents?show=drafts"]) {
      const { page } = await visit(path, { session });
      expect(await page.getByRole("button", { name: "Show", exact: true }).count()).toBe(0);
      await page.getByLabel("Impact").selectOption("critical");
      await page.waitForURL(/impact=critical/);
      await page.getByRole("searchbox", { name: "Search by incident" }).fill("disk");
      await page.keyboard.press("Enter");
      await page.waitForURL(/q=disk/);
      await page.context().close();
    }
    const { page } = await visit("/admin/incidents?q=x", { session, javaScriptEnabled: false });
    await page.getByLabel("Impact").selectOption("critical");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.waitForURL(/impact=critical/);
    await page.context().close();
  }, 600_000);

  test("a select beside dates acts at once in a wide window", async () => {
    const { app, visit } = site();
    const session = await app.signedIn("owner");
    const { page } = await visit("/admin/settings/activity", { session });
    await page.getByLabel("Actor", { exact: true }).selectOption("user");
    await page.waitForURL(/actor=user/);
    await page.context().close();
  }, 600_000);
});
