import { expect, test } from "bun:test";
import { getIncident } from "../../src/features/incidents/records";
import { CLI_ACTOR } from "../../src/base/actor";
import { setMailSettings } from "../../src/features/mail/settings";
import type { TestApp } from "../support/app";
import { describeInBrowser, describeWithBrowser } from "../support/browser";
import { HOME_HOST, openSite } from "../support/browser-site";
import { insertChoice, storeSubscriber } from "../support/mailed-subscriber";
import { RELAY } from "../support/subscribing";
import { addUpdate, createIncident } from "../support/examined";

const SLUG = "acme";

describeInBrowser("the forms of an incident", (site) => {
  test("a template replaces the text of another template but no text of the user", async () => {
    const { app, visit } = site();
    const { id } = await withIncident(app);
    const session = await app.signedIn("editor");
    const { page } = await visit(`/admin/incidents/${id}`, { session });
    const message = page.getByRole("textbox", { name: "Message" });
    const menu = page.getByText("Start from a template");
    const start = async (name: string) => {
      await menu.click();
      await page.getByRole("button", { name, exact: true }).click();
      expect(await page.locator(".template-menu[open]").count()).toBe(0);
    };
    await start("Fix in place");
    expect(await message.inputValue()).toStartWith("A fix is in place.");
    await start("Resolved");
    expect(await message.inputValue()).toStartWith("This incident is resolved.");
    await message.fill("It was the disk.");
    await start("Fix in place");
    expect(await message.inputValue()).toBe("It was the disk.");
    expect(await page.getByLabel("Monitoring", { exact: true }).isChecked()).toBe(true);
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await menu.click();
      expect(await page.locator(".template-menu .more-items").isVisible()).toBe(true);
      const hidden = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(hidden).toBe(0);
      await menu.click();
    }
    await page.context().close();
  }, 600_000);

  test.each([
    { name: "with a script", javaScriptEnabled: true },
    { name: "without one", javaScriptEnabled: false },
  ])(
    "a preview opens in a new tab and leaves the form to be submitted: $name",
    async ({ javaScriptEnabled }) => {
      const { app, visit } = site();
      const { id } = await withIncident(app);
      const session = await app.signedIn("editor");
      const { page } = await visit(`/admin/incidents/${id}`, { session, javaScriptEnabled });
      await page.getByRole("textbox", { name: "Message" }).fill("It was the disk.");
      await page.getByRole("radio", { name: "Resolved" }).check();
      const [tab] = await Promise.all([
        page.context().waitForEvent("page"),
        page.getByRole("button", { name: "Preview" }).click(),
      ]);
      await tab.getByText("Preview. Nothing was published.").waitFor();
      await tab.getByText("It was the disk.").waitFor();
      expect(statusOf(app, id)).toBe("identified");
      await page.getByRole("button", { name: "Publish update" }).click();
      await page.getByText("The incident is resolved.").waitFor();
      expect(statusOf(app, id)).toBe("resolved");
      await page.context().close();
    },
    600_000,
  );

  test("an update can be written and published by keyboard alone", async () => {
    const { app, visit } = site();
    const { id } = await withIncident(app);
    const session = await app.signedIn("editor");
    const { page } = await visit(`/admin/incidents/${id}`, { session });
    await page.getByRole("radio", { name: "Identified" }).focus();
    const press = async (key: string, until: string) => {
      for (let tries = 0; tries < 12; tries++) {
        await page.keyboard.press(key);
        if (await page.locator(`${until}:focus`).count()) return;
      }
      throw new Error(`the focus never came to ${until}`);
    };
    await page.keyboard.press("ArrowRight");
    await press("Tab", "textarea");
    await page.keyboard.type("Nearly there.");
    await press("Tab", "select");
    await page.keyboard.type("Partial");
    await press("Tab", "button.primary");
    await page.keyboard.press("Enter");
    await page.getByText("The update was published.").waitFor();
    const [update] = getIncident(app.ctx.db, id, true).updates;
    expect(update).toMatchObject({ status: "monitoring", body: "Nearly there." });
    expect(update?.components).toMatchObject([{ newStatus: "partial_outage" }]);
    await page.context().close();
  }, 600_000);
});

describeWithBrowser("the number of subscribers on a form", (browser) => {
  test.each([
    { name: "follows the chosen components with a script", javaScriptEnabled: true },
    { name: "is an upper bound without a script", javaScriptEnabled: false },
  ])(
    "$name",
    async ({ javaScriptEnabled }) => {
      await using site = await openSite(browser(), { host: HOME_HOST });
      const { app, visit } = site;
      const { ctx } = app;
      ctx.baseUrl = site.origin;
      await ctx.db.write((tx) => setMailSettings(ctx, tx, RELAY, CLI_ACTOR));
      const { page: acme, components } = await app.page({ slug: SLUG }, ["API", "Website"]);
      const { id } = await ctx.db.write((tx) => {
        storeSubscriber(ctx, tx, { pageId: acme.id, address: "ann@example.com" });
        const more = { address: "bob@example.com", scope: "selection" } as const;
        const chooser = storeSubscriber(ctx, tx, { pageId: acme.id, ...more });
        insertChoice(tx, { targetId: components["API"] ?? "", subscriberId: chooser.id });
        const report = { page: SLUG, name: "Errors", body: "We look into it." };
        return createIncident(ctx, tx, report, "dashboard", CLI_ACTOR).row;
      });
      const session = await app.signedIn("editor");
      for (const path of ["/admin/incidents/new", `/admin/incidents/${id}`]) {
        const { page, errors } = await visit(path, { session, javaScriptEnabled });
        const shown = page.locator("[data-counted]");
        if (javaScriptEnabled) {
          expect(await shown.textContent()).toStartWith("E-mails 1 of 2 subscribers.");
          await page.evaluate(() => {
            for (const fold of document.querySelectorAll("details")) fold.open = true;
          });
          const select = page.locator(`select[name="component:${components["API"]}"]`);
          await select.selectOption("major_outage");
          await page.getByText("E-mails 2 of 2 subscribers.").waitFor();
          await select.selectOption("");
          await page.getByText("E-mails 1 of 2 subscribers.").waitFor();
        } else {
          expect(await shown.textContent()).toBe(
            "E-mails up to 2 of 2 subscribers, depending on its components.",
          );
        }
        expect(errors).toEqual([]);
        await page.context().close();
      }
    },
    600_000,
  );
});

async function withIncident(app: TestApp): Promise<{ id: string }> {
  const slug = `${SLUG}-${crypto.randomUUID().slice(0, 8)}`;
  const { components } = await app.page({ slug }, ["API", "Website"]);
  return app.ctx.db.write((tx) => {
    const impacts = { [components["API"] ?? ""]: "major_outage" as const };
    const report = {
      page: slug,
      name: "Errors",
      body: "**Errors**\n\n- here",
      components: impacts,
    };
    const { id } = createIncident(app.ctx, tx, report, "dashboard", CLI_ACTOR).row;
    const next = { body: "It is the disk.", status: "identified" as const };
    addUpdate(app.ctx, tx, id, next, CLI_ACTOR);
    return { id };
  });
}

function statusOf(app: TestApp, id: string): string {
  return getIncident(app.ctx.db, id, true).row.status;
}
