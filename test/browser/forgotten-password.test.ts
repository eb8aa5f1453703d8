import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import type { Timer } from "../../src/base/clock";
import { readMailSettings, setMailSettings } from "../../src/features/mail/settings";
import { USER_TEMPLATES } from "../../src/features/users/letters";
import { startUserMails } from "../../src/features/users/mails";
import { joinPath, written } from "../support/account-mail";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, HOME_HOST, openSite } from "../support/browser-site";
import { PASSWORD, userWithPassword } from "../support/dashboard";
import { listMails } from "../support/mail-rows";
import { expectAccessibleCopy } from "../support/public-documents";
import { RELAY } from "../support/subscribing";

const NEW_PASSWORD = "another horse battery";
const JOURNEY_MS = 120_000;

const LOOKS: readonly [string, BrowserContextOptions][] = [
  ["wide and light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
  ["on a dark phone", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
];

describeWithBrowser("a forgotten password without JavaScript", (browser) => {
  let site: BrowserSite;
  let worker: Timer;
  beforeAll(async () => {
    site = await openSite(browser(), { host: HOME_HOST });
    const { ctx } = site.app;
    ctx.baseUrl = site.origin;
    await ctx.db.write((tx) => setMailSettings(ctx, tx, RELAY, CLI_ACTOR));
    await userWithPassword(site.app, "owner@example.com");
    worker = startUserMails(ctx);
  }, 600_000);
  afterAll(async () => {
    worker?.cancel();
    await site?.[Symbol.asyncDispose]();
  });

  /** Waits for the mail with a reset link, and returns the path of its link. */
  async function mailedPath(email: string): Promise<string> {
    const { ctx } = site.app;
    for (;;) {
      const mail = listMails(ctx.db, {}).find(({ recipient }) => recipient === email);
      const settings = readMailSettings(ctx);
      if (mail && settings) {
        const template = USER_TEMPLATES[mail.template];
        if (!template) throw new Error("there is no template");
        return joinPath(await written(Promise.resolve(template(mail, { ctx, settings }))));
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test.each(LOOKS)(
    "%s: the link on the sign-in screen leads by mail to a new password",
    async (name, look) => {
      const email = `${name.replaceAll(" ", "-")}@example.com`;
      await userWithPassword(site.app, email, "editor");
      const { page } = await site.visit("/admin/sign-in", { ...look, javaScriptEnabled: false });
      const { page: plain } = await site.visit("/admin/sign-in", look);
      await expectAccessibleCopy(page, plain);
      await page.getByRole("link", { name: "Forgot your password?" }).click();
      await expectAccessibleCopy(page, plain);
      await page.getByLabel("E-mail").fill(email);
      await page.getByRole("button", { name: "Send link" }).click();
      expect(new URL(page.url()).pathname).toBe("/admin/forgot/sent");
      await expectAccessibleCopy(page, plain);
      const path = await mailedPath(email);
      await page.goto(site.origin + path);
      await expectAccessibleCopy(page, plain);
      await page.getByLabel("Password").fill(NEW_PASSWORD);
      await page.getByRole("button", { name: "Set password" }).click();
      expect(new URL(page.url()).pathname).toBe("/admin");
      await page.goto(site.origin + path);
      expect(await page.locator("h1").innerText()).toBe("This link no longer works");
      await expectAccessibleCopy(page, plain);
      await page.context().clearCookies();
      await page.goto(`${site.origin}/admin/sign-in`);
      for (const [password, end] of [
        [PASSWORD, "/admin/sign-in"],
        [NEW_PASSWORD, "/admin"],
      ] as const) {
        await page.getByLabel("E-mail").fill(email);
        await page.getByLabel("Password").fill(password);
        await page.getByRole("button", { name: "Sign in" }).click();
        expect(new URL(page.url()).pathname).toBe(end);
      }
    },
    JOURNEY_MS,
  );
});
