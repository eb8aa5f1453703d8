import { expect, test } from "bun:test";
import { listAllPages } from "../../src/features/pages/store";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";

describeWithBrowser("pages on the dashboard", (browser) => {
  test("the form for a new page proposes a slug from the name until one is typed", async () => {
    await using site = await openSite(browser());
    const session = await site.app.signedIn("admin");
    const { page, errors } = await site.visit("/admin/pages/new", { session });
    const name = page.getByLabel("Name", { exact: true });
    const slug = page.getByLabel("Slug");
    await name.pressSequentially("Über uns & Co.");
    expect(await slug.inputValue()).toBe("uber-uns-co");
    await slug.fill("mine");
    await name.fill("Über uns & Co. AG");
    expect(await slug.inputValue()).toBe("mine");
    await slug.fill("");
    await name.fill("Über uns & Co. KG!");
    expect(await slug.inputValue()).toBe("uber-uns-co-kg");
    await page.getByRole("button", { name: "Create page" }).click();
    await page.getByText("The page was created.").waitFor();
    expect(listAllPages(site.app.ctx.db, {})[0]?.slug).toBe("uber-uns-co-kg");
    expect(errors).toEqual([]);
  }, 600_000);

  test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    "a page can be created, given a logo and deleted: %o",
    async (options) => {
      await using site = await openSite(browser());
      const session = await site.app.signedIn("admin");
      const { page, errors } = await site.visit("/admin/pages", { session, ...options });
      await page.getByRole("link", { name: "Create page" }).first().click();
      await page.getByLabel("Name", { exact: true }).fill("Acme Status");
      await page.getByRole("button", { name: "Create page" }).click();
      await page.getByText("The page was created.").waitFor();

      await page.getByRole("link", { name: "Pages", exact: true }).click();
      await page.getByRole("link", { name: "Acme Status", exact: true }).click();
      await page.getByRole("link", { name: "Appearance" }).click();
      const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 240, height: 60 } });
      const file = { name: "logo.png", mimeType: "image/png", buffer: picture };
      await page.getByLabel("Logo", { exact: true }).setInputFiles(file);
      await page.getByRole("button", { name: "Upload logo" }).click();
      await page.getByText("The logo was changed.").waitFor();
      const logo = page.getByRole("img", { name: "Acme Status" });
      await logo.waitFor();
      const bounds = await logo.boundingBox();
      expect([bounds?.width, bounds?.height]).toEqual([240, 60]);

      await page.locator(".more-menu > summary").click();
      await page.getByRole("link", { name: "Delete" }).click();
      await page.getByLabel("Type acme-status to delete the page").fill("acme-status");
      await page.getByRole("button", { name: "Delete page" }).click();
      await page.getByText("The page was deleted.").waitFor();
      expect(listAllPages(site.app.ctx.db, {})).toEqual([]);
      expect(errors).toEqual([]);
    },
    600_000,
  );

  test("a logo that is too large is rejected in the browser before it is sent", async () => {
    await using site = await openSite(browser());
    const session = await site.app.signedIn("admin");
    const { page: made } = await site.app.page();
    const { page } = await site.visit(`/admin/pages/${made.id}/look`, { session });
    const field = page.getByLabel("Logo", { exact: true });
    const alert = page.getByRole("alert");
    const choose = (size: number) =>
      field.setInputFiles({ name: "l.png", mimeType: "image/png", buffer: Buffer.alloc(size) });
    await choose(131_073);
    await alert.waitFor();
    expect(await field.inputValue()).toBe("");
    await choose(131_072);
    await alert.waitFor({ state: "hidden" });
    expect(await field.inputValue()).toEndWith("l.png");
  }, 600_000);
});
