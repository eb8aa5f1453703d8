import { afterEach, beforeEach, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { userActor } from "../../src/base/actor";
import { turnOnSecondFactor } from "../../src/features/users/second-factors";
import { createSecret } from "../../src/features/auth/totp";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, HOME_HOST, openSite } from "../support/browser-site";
import { PASSWORD, userWithPassword } from "../support/dashboard";
import { expectAccessibleCopy } from "../support/public-documents";
import { codeAt, listFactors, PERIOD_MS, wrongCode } from "../support/second-factors";

const JOURNEY_MS = 600_000;
const WIDE = { viewport: { width: 1280, height: 900 }, colorScheme: "light" } as const;
const PHONE = { viewport: { width: 390, height: 844 }, colorScheme: "dark" } as const;

const LOOKS: readonly [string, BrowserContextOptions][] = [
  ["with scripts, wide and light", { ...WIDE, javaScriptEnabled: true }],
  ["with scripts, on a dark phone", { ...PHONE, javaScriptEnabled: true }],
  ["without scripts, wide and light", { ...WIDE, javaScriptEnabled: false }],
  ["without scripts, on a dark phone", { ...PHONE, javaScriptEnabled: false }],
];

/** A home network without HTTPS, and an installation with it, whose cookies this machine may set. */
const PLACES = [
  { scheme: "HTTP", host: HOME_HOST, publicAddress: undefined },
  { scheme: "HTTPS", host: "127.0.0.1", publicAddress: "https://status.northwind.example" },
] as const;

for (const { scheme, host, publicAddress } of PLACES) {
  describeWithBrowser(`a second factor in a browser over ${scheme}`, (browser) => {
    let site: BrowserSite;
    let people = 0;
    // Each test has a site of its own, since an address may sign in ten times a minute.
    beforeEach(async () => {
      site = await openSite(browser(), { host });
      site.app.ctx.baseUrl = publicAddress ?? site.origin;
    }, 600_000);
    afterEach(async () => {
      await site?.[Symbol.asyncDispose]();
    });

    const addPerson = () => userWithPassword(site.app, `person-${(people += 1)}@example.com`);

    /** Lets all users need a second factor until it is disposed of. */
    function requireSecondFactors(): Disposable {
      const { ctx } = site.app;
      const { config } = ctx;
      ctx.config = { ...config, secondFactor: "viewer" };
      return { [Symbol.dispose]: () => void (ctx.config = config) };
    }

    /** Checks an open page: accessible, within the window, and without an inline style. */
    async function check(page: Page, plain: Page): Promise<void> {
      await expectAccessibleCopy(page, plain);
      expect(await page.content()).not.toMatch(/<[^>]*\sstyle="/);
    }

    async function typePassword(page: Page, email: string): Promise<void> {
      await page.goto(`${site.origin}/admin/sign-in`);
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
    }

    const pathOf = (page: Page) => new URL(page.url()).pathname;

    const plainPage = async (look: BrowserContextOptions) =>
      (await site.visit("/admin/sign-in", { ...look, javaScriptEnabled: true })).page;

    test.each(LOOKS)(
      "%s: it is set up, asked for at the next sign-in, and replaced by a recovery code",
      async (_name, look) => {
        const { email } = await addPerson();
        const { page, errors } = await site.visit("/admin/sign-in", look);
        const plain = await plainPage(look);
        await typePassword(page, email);
        expect(pathOf(page)).toBe("/admin");
        await page.goto(`${site.origin}/admin/settings/account`);
        await check(page, plain);
        await page.getByRole("link", { name: "Set up second factor" }).click();
        await page.getByRole("img", { name: "QR code of the secret" }).waitFor();
        await check(page, plain);
        const secret = (await page.locator("[data-secret]").innerText()).replaceAll(" ", "");
        await page.getByLabel("Code", { exact: true }).fill(wrongCode(secret, Date.now()));
        await page.getByLabel("Current password").fill(PASSWORD);
        await page.getByRole("button", { name: "Turn on second factor" }).click();
        await page.getByText("Code is wrong.").first().waitFor();
        await check(page, plain);
        await page.getByLabel("Code", { exact: true }).fill(codeAt(secret, Date.now()));
        await page.getByLabel("Current password").fill(PASSWORD);
        await page.getByRole("button", { name: "Turn on second factor" }).click();
        await page.getByText("These codes are shown only once").waitFor();
        await check(page, plain);
        const codes = (await page.locator("[data-secret]").innerText()).split("\n");
        expect(codes).toHaveLength(10);
        await page.getByRole("link", { name: "Continue" }).click();
        await page.getByText("10 of 10 recovery codes are left.").waitFor();
        await check(page, plain);

        await page.context().clearCookies();
        await typePassword(page, email);
        expect(pathOf(page)).toBe("/admin/sign-in/code");
        await check(page, plain);
        await page.getByLabel("Code", { exact: true }).fill(wrongCode(secret, Date.now()));
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByText("The code is wrong.").waitFor();
        await check(page, plain);
        // That of the next period, since the code of this one turned it on.
        const next = codeAt(secret, Date.now() + PERIOD_MS);
        await page.getByLabel("Code", { exact: true }).fill(next);
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect(pathOf(page)).toBe("/admin");

        await page.context().clearCookies();
        await typePassword(page, email);
        await page.getByText("Use a recovery code").click();
        await check(page, plain);
        await page.getByLabel("Recovery code").fill(codes[0]?.toLowerCase() ?? "");
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.goto(`${site.origin}/admin/settings/account`);
        await page.getByText("9 of 10 recovery codes are left.").waitFor();
        // The two forms with a wrong code.
        expect(errors.filter((error) => !/status of 422/.test(error))).toEqual([]);
      },
      JOURNEY_MS,
    );

    test.each(LOOKS)(
      "%s: a role that needs it leads through the set-up, and it is turned off again in the account",
      async (_name, look) => {
        const { email } = await addPerson();
        using _ = requireSecondFactors();
        const { page } = await site.visit("/admin/sign-in", look);
        const plain = await plainPage(look);
        await typePassword(page, email);
        await page.getByText("Your role needs a second factor.").waitFor();
        await check(page, plain);
        const secret = (await page.locator("[data-secret]").innerText()).replaceAll(" ", "");
        await page.getByLabel("Code", { exact: true }).fill(codeAt(secret, Date.now()));
        await page.getByRole("button", { name: "Turn on second factor" }).click();
        await page.getByText("These codes are shown only once").waitFor();
        await check(page, plain);
        const codes = (await page.locator("[data-secret]").innerText()).split("\n");
        await page.getByRole("link", { name: "Continue" }).click();
        await page.getByRole("heading", { level: 1 }).waitFor();
        expect(pathOf(page)).toBe("/admin");

        await page.goto(`${site.origin}/admin/settings/account`);
        await page.getByRole("link", { name: "Turn off" }).click();
        await page.getByText("Your password alone signs you in then").waitFor();
        const form = page.locator("[data-dialog-body]");
        await form.getByLabel("Code", { exact: true }).fill(codes[9] ?? "");
        await form.getByLabel("Current password").fill(PASSWORD);
        await form.getByRole("button", { name: "Turn off second factor" }).click();
        // The role still needs one.
        await page.getByText("Your role needs a second factor.").waitFor();
        await check(page, plain);
      },
      JOURNEY_MS,
    );

    test(
      "an owner resets that of another user in a dialog",
      async () => {
        const { ctx } = site.app;
        const owner = await addPerson();
        const other = await addPerson();
        const secret = createSecret(ctx.random);
        await ctx.db.write((tx) =>
          turnOnSecondFactor(
            ctx,
            tx,
            { userId: other.id, secret, code: codeAt(secret, ctx.clock.now()) },
            userActor(other),
            -1,
          ),
        );
        const { page } = await site.visit("/admin/sign-in", WIDE);
        await typePassword(page, owner.email);
        await page.goto(`${site.origin}/admin/settings/users/${other.id}`);
        await page.getByRole("link", { name: "Reset second factor" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Reset second factor" }).click();
        await page.getByText("The second factor was reset.").waitFor();
        const left = listFactors(ctx.db, {}).map(({ userId }) => userId);
        expect(left).not.toContain(other.id);
      },
      JOURNEY_MS,
    );
  });
}
