import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { mutate } from "../../src/db/statements";
import { sessions } from "../../src/db/tables/users";
import { endSessionsOf } from "../../src/features/auth/sessions";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { PASSWORD, signIn, userWithPassword } from "../support/dashboard";

const expireSessions = mutate((orm, _$: Record<string, never>) =>
  orm.update(sessions).set({ lastSeenAt: 0 }),
);

const EMAIL = "ada@example.com";
const NAME = "Checkout fails";
const MESSAGE = "Cards are refused.\nWe are looking into it.";

describeWithBrowser("a session that ends in the middle of a report", (browser) => {
  test.each([
    { name: "with scripts", javaScriptEnabled: true },
    { name: "without scripts", javaScriptEnabled: false },
  ])(
    "the report is found again after signing in, and published: $name",
    async ({ javaScriptEnabled }) => {
      await using site = await openSite(browser());
      const { app } = site;
      const user = await userWithPassword(app, EMAIL);
      await app.page();
      const session = await signIn(app, EMAIL);
      const { page, errors } = await site.visit("/admin/incidents/new", {
        session,
        javaScriptEnabled,
      });
      await page.getByRole("textbox", { name: "Name" }).fill(NAME);
      await page.getByRole("textbox", { name: "Message" }).fill(MESSAGE);
      await app.ctx.db.write((tx) => endSessionsOf(tx, user.id));
      await publish(page);
      await page.getByText("Your session has ended").waitFor();
      expect(await page.title()).toBe("Sign in · Allclear");
      if (javaScriptEnabled) expect(await site.axe(page)).toEqual([]);
      await page.getByRole("textbox", { name: "E-mail" }).fill(EMAIL);
      await page.getByLabel("Password").fill("wrong horse battery");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("The e-mail or the password is wrong.").waitFor();
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "Continue to the form" }).click();
      await page.getByText("Nothing was saved yet").waitFor();
      expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe(NAME);
      expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe(MESSAGE);
      expect(app.events()).toEqual([]);
      await publish(page);
      await page.getByText("The incident was published.").waitFor();
      expect(app.events().map(({ type }) => type)).toEqual(["incident.created"]);
      // The refused form and the wrong password.
      expect(errors.filter((error) => !/status of 4(01|22)/.test(error))).toEqual([]);
    },
    600_000,
  );

  test("a script returns to the form without a further click if the session was the user's own", async () => {
    await using site = await openSite(browser());
    const { app } = site;
    await userWithPassword(app, EMAIL);
    await app.page();
    const session = await signIn(app, EMAIL);
    const { page } = await site.visit("/admin/incidents/new", { session });
    await page.getByRole("textbox", { name: "Name" }).fill(NAME);
    await app.ctx.db.write((tx) => expireSessions(tx, {}));
    await publish(page);
    await page.getByRole("textbox", { name: "E-mail" }).fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Nothing was saved yet").waitFor();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe(NAME);
  }, 600_000);
});

function publish(page: Page): Promise<void> {
  return page.getByRole("button", { name: "Publish incident" }).click();
}
