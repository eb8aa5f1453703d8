import { expect, test } from "bun:test";
import { describeInBrowser } from "../support/browser";

const NEW_KEY = "/admin/settings/keys/new";

describeInBrowser("a preset of the form for a new key", (site) => {
  async function open(javaScriptEnabled = true) {
    const { app, visit } = site();
    const session = await app.signedIn("admin");
    const { page } = await visit(NEW_KEY, { session, javaScriptEnabled });
    return {
      page,
      name: page.getByLabel("Name", { exact: true }),
      scope: (name: string) => page.getByRole("checkbox", { name, exact: true }),
      start: (name: string) => page.getByRole("button", { name, exact: true }).click(),
    };
  }

  test.each([true, false])(
    "a typed name and a selected scope stay, and the preset adds its own: scripts %p",
    async (hasScripts) => {
      const { page, name, scope, start } = await open(hasScripts);
      await name.fill("Deploy bot");
      await scope("manage:webhooks").check();
      await page.getByLabel("Rate limit").fill("77");
      await start("CI incident bot");
      await scope("write:incidents").and(page.locator(":checked")).waitFor();
      expect(await name.inputValue()).toBe("Deploy bot");
      expect(await scope("manage:webhooks").isChecked()).toBe(true);
      expect(await page.getByLabel("Rate limit").inputValue()).toBe("77");
      await page.context().close();
    },
    600_000,
  );

  test("one preset replaces another, except for scopes that a person checked or unchecked", async () => {
    const { page, name, scope, start } = await open();
    await start("CI incident bot");
    await scope("read:status").uncheck();
    await start("Monitoring as code");
    expect(await name.inputValue()).toBe("Monitoring as code");
    expect(await scope("write:incidents").isChecked()).toBe(false);
    expect(await scope("manage:monitors").isChecked()).toBe(true);
    expect(await scope("read:status").isChecked()).toBe(false);
    await page.context().close();
  }, 600_000);

  test("what was typed in a rejected form stays too", async () => {
    const { page, name, scope, start } = await open();
    await name.fill("Deploy bot");
    await scope("manage:webhooks").check();
    await page.getByLabel("Rate limit").fill("many");
    await page.getByRole("button", { name: "Create API Key" }).click();
    await page.getByText("Correct this field").waitFor();
    await start("CI incident bot");
    expect(await name.inputValue()).toBe("Deploy bot");
    expect(await scope("manage:webhooks").isChecked()).toBe(true);
    expect(await scope("write:incidents").isChecked()).toBe(true);
    await page.context().close();
  }, 600_000);
});

describeInBrowser("a template of a report", (site) => {
  test("a chosen status stays, while an unchanged one follows the template", async () => {
    const { app, visit } = site();
    await app.page();
    const session = await app.signedIn("editor");
    const { page } = await visit("/admin/incidents/new", { session });
    const start = (name: string) => page.getByRole("button", { name, exact: true }).click();
    const message = page.getByRole("textbox", { name: "Message" });
    await start("Third-party provider");
    expect(await page.getByLabel("Identified", { exact: true }).isChecked()).toBe(true);
    await page.getByLabel("Monitoring", { exact: true }).check();
    await start("Cause unknown");
    expect(await message.inputValue()).toStartWith("Something is not working");
    expect(await page.getByLabel("Monitoring", { exact: true }).isChecked()).toBe(true);
    await page.context().close();
  }, 600_000);
});
