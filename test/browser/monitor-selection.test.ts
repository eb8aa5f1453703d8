import { expect, test } from "bun:test";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";

describeWithBrowser("two hundred monitors", (browser) => {
  test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    "two hundred monitors are tagged, found by the tag and paused: %o",
    async (options) => {
      await using site = await openSite(browser());
      const { app } = site;
      await app.page({ slug: "shop", name: "Shop" }, ["API"]);
      const key = await app.keyWith("manage:monitors");
      for (let index = 0; index < 200; index++) {
        const json = {
          name: `Probe ${index}`,
          type: "push",
          component_ids: [],
          interval_seconds: 60,
          tags: index % 2 === 0 ? ["even"] : [],
        };
        const created = await app.call("/api/v1/monitors", { method: "POST", key, json });
        expect(created.status).toBe(201);
      }
      const session = await app.signedIn("admin");
      const { page, errors } = await site.visit("/admin/monitors", { session, ...options });
      await page.getByRole("checkbox", { name: "Select Probe 0", exact: true }).check();
      await page.getByRole("checkbox", { name: "All 200" }).check();
      await page.getByRole("button", { name: "Tag", exact: true }).click();
      await page.getByLabel("Tag", { exact: true }).fill("night");
      await page.getByRole("button", { name: "Change tags" }).click();
      await page.getByText("200 monitors are tagged").waitFor();

      await page.goto(`${site.origin}/admin/monitors?tag=even`);
      await page.getByRole("checkbox", { name: "Select Probe 0", exact: true }).check();
      await page.getByRole("checkbox", { name: "All 100" }).check();
      await page.getByRole("button", { name: "Pause", exact: true }).click();
      await page.getByText("100 monitors are paused.").waitFor();
      const { body } = await app.call("/api/v1/monitors?tag=night&state=paused&limit=100", { key });
      expect(body.data).toHaveLength(100);
      expect(errors).toEqual([]);
    },
    600_000,
  );
});
