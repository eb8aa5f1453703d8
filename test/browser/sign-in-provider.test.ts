import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { CLI_ACTOR, userActor } from "../../src/base/actor";
import { startSession } from "../../src/features/auth/sessions";
import { createSecret } from "../../src/features/auth/totp";
import { inviteUser, linkPath } from "../../src/features/users/invitations";
import { turnOnSecondFactor } from "../../src/features/users/second-factors";
import { findUserByEmail } from "../../src/features/users/users";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite } from "../support/browser-site";
import { PASSWORD, userWithPassword } from "../support/dashboard";
import { expectAccessibleCopy } from "../support/public-documents";
import { codeAt, PERIOD_MS } from "../support/second-factors";
import { type RealProvider, startOidcProvider } from "../support/servers/oidc-provider";

const JOURNEY_MS = 240_000;

/** Ways to serve: plain HTTP, as in a home network, and HTTPS. */
const SCHEMES = [
  ["plain HTTP", false],
  ["HTTPS", true],
] as const;

/** The certificate is one of the tests, and axe must not look at a colour that fades. */
const OF_TESTS = { ignoreHTTPSErrors: true, reducedMotion: "reduce" } as const;

const LOOKS: readonly [string, BrowserContextOptions][] = [
  ["wide and light", { viewport: { width: 1280, height: 900 }, colorScheme: "light", ...OF_TESTS }],
  ["on a dark phone", { viewport: { width: 390, height: 844 }, colorScheme: "dark", ...OF_TESTS }],
  [
    "without JavaScript",
    { viewport: { width: 320, height: 700 }, javaScriptEnabled: false, ...OF_TESTS },
  ],
];

describe.each(SCHEMES)("over %s", (_scheme, isSecure) => {
  describeProvider(isSecure);
});

function describeProvider(isSecure: boolean): void {
  describeWithBrowser("signing in with a provider", (browser) => {
    let site: BrowserSite;
    let provider: RealProvider;
    beforeAll(async () => {
      const origin = Promise.withResolvers<string>();
      provider = await startOidcProvider(origin.promise);
      const env = { ...provider.env, ALLCLEAR_ROLES: "sre=admin; *=viewer" };
      site = await openSite(browser(), { env, isSecure });
      origin.resolve(site.origin);
      await userWithPassword(site.app, "owner@example.com");
    }, 600_000);
    afterAll(async () => {
      await site?.[Symbol.asyncDispose]();
      await provider?.[Symbol.asyncDispose]();
    });

    const plainPage = async (look: BrowserContextOptions) =>
      (await site.visit("/admin/sign-in", { ...look, javaScriptEnabled: true })).page;

    test.each(LOOKS)(
      "%s: the link on the sign-in screen leads by the provider to the screen that was asked for",
      async (name, look) => {
        const login = name.replaceAll(" ", "-");
        const email = `${login}@northwind.example`;
        provider.people.set(login, { email, email_verified: true, name, groups: ["sre"] });
        const { page, errors } = await site.visit("/admin/sign-in?next=/admin/settings", look);
        const plain = await plainPage(look);
        await expectAccessibleCopy(page, plain);
        await page.getByRole("link", { name: "Sign in with Northwind" }).click();
        await page.getByLabel("Login").fill(login);
        await page.getByRole("button", { name: "Log in" }).click();
        await page.waitForURL(`${site.origin}/admin/settings`);
        expect(findUserByEmail(site.app.ctx.db, email)?.role).toBe("admin");
        expect(errors).toEqual([]);
      },
      JOURNEY_MS,
    );

    test.each(LOOKS)(
      "%s: a sign-in that is refused ends on a page that leads back",
      async (_, look) => {
        provider.people.set("nobody", { name: "Nobody" });
        const { page } = await site.visit("/admin/sign-in", look);
        const plain = await plainPage(look);
        await page.getByRole("link", { name: "Sign in with Northwind" }).click();
        await page.getByLabel("Login").fill("nobody");
        await page.getByRole("button", { name: "Log in" }).click();
        await page.getByRole("heading", { name: "Sign-in was not completed" }).waitFor();
        await expectAccessibleCopy(page, plain);
        await page.getByRole("link", { name: "Start again" }).click();
        await page.getByRole("link", { name: "Sign in with Northwind" }).waitFor();
      },
      JOURNEY_MS,
    );

    test.each(LOOKS)(
      "%s: an invitation for another e-mail is accepted after a question",
      async (name, look) => {
        const { ctx } = site.app;
        const login = `guest ${name}`.replaceAll(" ", "-");
        const email = `${login}@northwind.example`;
        provider.people.set(login, { email, email_verified: true, groups: ["sre"] });
        const guest = { email: `${login}@home.example`, name: "Guest", role: "viewer" } as const;
        const { token } = await ctx.db.write((tx) => inviteUser(ctx, tx, guest, CLI_ACTOR));
        const { page, errors } = await site.visit(linkPath("invite", token), look);
        const plain = await plainPage(look);
        await expectAccessibleCopy(page, plain);
        await page.getByRole("link", { name: "Join with Northwind" }).click();
        await page.getByLabel("Login").fill(login);
        await page.getByRole("button", { name: "Log in" }).click();
        await page.getByRole("heading", { name: "Is this invitation for you?" }).waitFor();
        await expectAccessibleCopy(page, plain);
        await page.getByRole("button", { name: "Accept invitation" }).click();
        await page.waitForURL(`${site.origin}/admin`);
        expect(findUserByEmail(ctx.db, guest.email)?.role).toBe("admin");
        expect(errors).toEqual([]);
      },
      JOURNEY_MS,
    );

    test.each(LOOKS)(
      "%s: an owner tries the provider, and connects the account after the password",
      async (name, look) => {
        const login = `owner ${name}`.replaceAll(" ", "-");
        const email = `${login}@example.com`;
        await userWithPassword(site.app, email, "owner");
        provider.people.set(login, { email: `${login}@northwind.example`, groups: ["sre"] });
        const { page } = await site.visit("/admin/sign-in?next=/admin/settings/sign-in", look);
        const plain = await plainPage(look);
        await page.getByLabel("E-mail").fill(email);
        await page.getByLabel("Password").fill(PASSWORD);
        await page.getByRole("button", { name: "Sign in", exact: true }).click();
        await page.getByRole("link", { name: "Try Northwind" }).waitFor();
        await expectAccessibleCopy(page, plain);
        await page.getByRole("link", { name: "Try Northwind" }).click();
        await page.getByLabel("Login").fill(login);
        await page.getByRole("button", { name: "Log in" }).click();
        await page.getByText("Refused: the e-mail is not verified.").waitFor();
        expect(await page.content()).toContain("sre=admin");
        await expectAccessibleCopy(page, plain);

        await page.goto(`${site.origin}/admin/settings/account`);
        await expectAccessibleCopy(page, plain);
        const form = page.locator('form[action$="/connect"]');
        await form.getByLabel("Current password").fill(PASSWORD);
        await form.getByRole("button", { name: "Connect", exact: true }).click();
        await page.getByRole("link", { name: "Continue to Northwind" }).waitFor();
        await expectAccessibleCopy(page, plain);
        // The provider still knows the person, and asks nothing again.
        await page.getByRole("link", { name: "Continue to Northwind" }).click();
        await page.getByText("You are connected with Northwind.").waitFor();
        await expectAccessibleCopy(page, plain);
      },
      JOURNEY_MS,
    );

    test.each(LOOKS)(
      "%s: an owner with a second factor connects after password and code",
      async (name, look) => {
        const { ctx } = site.app;
        const login = `second ${name}`.replaceAll(" ", "-");
        const user = await userWithPassword(site.app, `${login}@example.com`, "owner");
        provider.people.set(login, { email: `${login}@northwind.example` });
        const secret = createSecret(ctx.random);
        const code = codeAt(secret, Date.now());
        const session = await ctx.db.write((tx) => {
          turnOnSecondFactor(ctx, tx, { userId: user.id, secret, code }, userActor(user), -1);
          return startSession(ctx, tx, user.id, { ip: "127.0.0.1", userAgent: "" });
        });
        const at = { ...look, session };
        const { page } = await site.visit("/admin/settings/account", at);
        const plain = await plainPage(look);
        await expectAccessibleCopy(page, plain);
        const form = page.locator('form[action$="/connect"]');
        const send = async (typed: string) => {
          await form.getByLabel("Current password").fill(PASSWORD);
          await form.getByLabel("Code").fill(typed);
          await form.getByRole("button", { name: "Connect", exact: true }).click();
        };
        // Before the password is looked at, of which an address may send ten a minute.
        await send("12345");
        await form.getByText("Type the six digits of the app").waitFor();
        await expectAccessibleCopy(page, plain);
        await send(codeAt(secret, Date.now() + PERIOD_MS));
        await page.getByRole("link", { name: "Continue to Northwind" }).click();
        await page.getByLabel("Login").fill(login);
        await page.getByRole("button", { name: "Log in" }).click();
        await page.getByText("You are connected with Northwind.").waitFor();
        await page.goto(`${site.origin}/admin/settings/sign-in`);
        await page.getByText("No role: each user decides").waitFor();
        await expectAccessibleCopy(page, plain);
      },
      JOURNEY_MS,
    );
  });
}
