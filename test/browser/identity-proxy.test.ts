import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import { inviteUser, linkPath } from "../../src/features/users/invitations";
import { findUserByEmail } from "../../src/features/users/users";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite } from "../support/browser-site";
import { PASSWORD, userWithPassword } from "../support/dashboard";
import { named, PROXY_ENV } from "../support/identity-proxy";
import { expectAccessibleCopy } from "../support/public-documents";

const JOURNEY_MS = 240_000;

const LOOKS: readonly [string, BrowserContextOptions][] = [
  ["wide and light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
  ["on a dark phone", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
  ["without JavaScript", { viewport: { width: 320, height: 700 }, javaScriptEnabled: false }],
];

describeWithBrowser("signing in by a proxy that names the user, over plain HTTP", (browser) => {
  let site: BrowserSite;
  beforeAll(async () => {
    const env = { ...PROXY_ENV, ALLCLEAR_IDENTITY_PROXY: "127.0.0.1" };
    site = await openSite(browser(), { env });
    await userWithPassword(site.app, "owner@example.com");
  }, 600_000);
  afterAll(() => site?.[Symbol.asyncDispose]());

  const plainPage = async (look: BrowserContextOptions) =>
    (await site.visit("/admin/sign-in", { ...look, javaScriptEnabled: true })).page;

  test.each(LOOKS)(
    "%s: the dashboard opens at once, and again after signing out",
    async (name, look) => {
      const login = name.replaceAll(" ", "-");
      const extraHTTPHeaders = named(login);
      const { page, errors } = await site.visit("/admin/incidents", { ...look, extraHTTPHeaders });
      expect(new URL(page.url()).pathname).toBe("/admin/incidents");
      expect(findUserByEmail(site.app.ctx.db, `${login}@northwind.example`)?.role).toBe("viewer");
      await page.goto(`${site.origin}/admin/settings/account`);
      await expectAccessibleCopy(page, await plainPage(look));
      const menu = page.getByRole("button", { name: "More", exact: true });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL(`${site.origin}/admin/sign-in`);
      await expectAccessibleCopy(page, await plainPage(look));
      await page.getByRole("link", { name: "Continue" }).click();
      await page.waitForURL(`${site.origin}/admin`);
      expect(errors).toEqual([]);
    },
    JOURNEY_MS,
  );

  test.each(LOOKS)(
    "%s: a form that was open in a browser without a session is shown again",
    async (name, look) => {
      const login = `next-${name.replaceAll(" ", "-")}`;
      const extraHTTPHeaders = named(login);
      const path = "/admin/settings/account";
      const { page } = await site.visit(path, { ...look, extraHTTPHeaders });
      await page.context().clearCookies();
      await page.getByLabel("Name", { exact: true }).fill("Somebody");
      await page.getByRole("button", { name: "Save name" }).click();
      await page.getByText("It may have been filled in by another user.").waitFor();
      await expectAccessibleCopy(page, await plainPage(look));
      await page.getByRole("button", { name: "Continue to the form" }).click();
      await page.getByText("Nothing was saved yet").waitFor();
      expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Somebody");
      const user = () => findUserByEmail(site.app.ctx.db, `${login}@northwind.example`);
      expect(user()?.name).toBe(login);
      await page.getByRole("button", { name: "Save name" }).click();
      await page.getByText("Your name was changed.").waitFor();
      expect(user()?.name).toBe("Somebody");
    },
    JOURNEY_MS,
  );

  test.each(LOOKS)(
    "%s: an invited user joins by a button",
    async (name, look) => {
      const login = `guest-${name.replaceAll(" ", "-")}`;
      const email = `${login}@example.com`;
      const { ctx } = site.app;
      const { token } = await ctx.db.write((tx) =>
        inviteUser(ctx, tx, { email, name: "Grace", role: "editor" }, CLI_ACTOR),
      );
      const extraHTTPHeaders = named(login, { email: "" });
      const options = { ...look, extraHTTPHeaders };
      const { page } = await site.visit(linkPath("invite", token), options);
      await expectAccessibleCopy(page, await plainPage(look));
      await page.getByRole("button", { name: `Join as ${login}` }).click();
      await page.waitForURL(`${site.origin}/admin`);
    },
    JOURNEY_MS,
  );

  test.each(LOOKS)(
    "%s: an owner without an account at the proxy signs in with a password, and connects",
    async (name, look) => {
      const login = `root-${name.replaceAll(" ", "-")}`;
      const email = `${login}@example.com`;
      await userWithPassword(site.app, email, "owner");
      const extraHTTPHeaders = named(login, { email: "", groups: "sre,ops" });
      const { page } = await site.visit("/admin/settings/sign-in", { ...look, extraHTTPHeaders });
      await page.getByText("You have no access yet").waitFor();
      await expectAccessibleCopy(page, await plainPage(look));
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByText(`Names ${login}. Groups: sre, ops.`).waitFor();
      await expectAccessibleCopy(page, await plainPage(look));
      await page.goto(`${site.origin}/admin/settings/account`);
      await expectAccessibleCopy(page, await plainPage(look));
      await page.locator("#field-own_password").fill(PASSWORD);
      await page.getByRole("button", { name: `Connect as ${login}` }).click();
      await page.getByText(`Connected as ${login}`).waitFor();
      await expectAccessibleCopy(page, await plainPage(look));
    },
    JOURNEY_MS,
  );
});
