import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { setMailSettings } from "../../src/features/mail/settings";
import { CLI_ACTOR } from "../../src/base/actor";
import { startSignUps } from "../../src/features/subscribers/sign-up";
import type { Timer } from "../../src/base/clock";
import { wordsOf } from "../../src/languages/words";
import { runAxeOnCopy } from "../support/axe";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, HOME_HOST, openSite } from "../support/browser-site";
import { listSubscribers } from "../support/mail-rows";
import { isWiderThanWindow } from "../support/public-documents";
import { linkPath, listRequests, RELAY } from "../support/subscribing";

const PHONE = { width: 390, height: 844 };
const NARROW = { width: 320, height: 640 };
const JOURNEY_MS = 180_000;
/** Folder for pictures of every step; none are taken without it. */
const SHOTS = process.env["SUBSCRIBING_SHOTS"];

const LOOKS: readonly [string, BrowserContextOptions & { locale: string; slug: string }][] = [
  [
    "wide and light",
    { viewport: { width: 1280, height: 900 }, colorScheme: "light", locale: "en", slug: "wide" },
  ],
  ["on a dark phone", { viewport: PHONE, colorScheme: "dark", locale: "en", slug: "phone" }],
  ["from right to left", { viewport: PHONE, colorScheme: "light", locale: "ar", slug: "arabic" }],
];

describeWithBrowser("subscribing without JavaScript", (browser) => {
  let site: BrowserSite;
  let worker: Timer;
  beforeAll(async () => {
    site = await openSite(browser(), { host: HOME_HOST });
    const { ctx } = site.app;
    ctx.baseUrl = site.origin;
    await ctx.db.write((tx) => setMailSettings(ctx, tx, RELAY, CLI_ACTOR));
    worker = startSignUps(ctx);
  }, 600_000);
  afterAll(async () => {
    worker?.cancel();
    await site?.[Symbol.asyncDispose]();
  });

  /** Waits until a list has an entry for which `isMet` is true, and returns it. */
  async function wait<Row>(read: () => readonly Row[], isMet: (row: Row) => boolean): Promise<Row> {
    for (;;) {
      const found = read().find(isMet);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Checks an open page: accessible, within the window, also a narrow one, and without any script. */
  async function check(page: Page, plain: Page, name: string): Promise<void> {
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
    const size = page.viewportSize();
    for (const viewport of [NARROW, size ?? PHONE]) {
      await page.setViewportSize(viewport);
      expect(await isWiderThanWindow(page), name).toBe(false);
    }
    expect(await runAxeOnCopy(page, plain), name).toEqual([]);
  }

  describe.each(LOOKS)("%s", (_name, { locale, slug, ...look }) => {
    test(
      "form, confirmation, choices and unsubscribing are accessible and fit the window",
      async () => {
        const { app, origin, visit } = site;
        const { ctx } = app;
        const { t } = wordsOf(locale);
        await app.page({ slug, name: "Northwind", locale }, ["Web app", "Sign-in", "API"]);
        const email = `${slug}@example.com`;
        const { page } = await visit(`/status/${slug}`, { ...look, javaScriptEnabled: false });
        // The policy of this page does not allow the style of the others.
        const { page: plain } = await visit(`/status/${slug}`, { ...look, bypassCSP: true });
        await page
          .getByRole("link", { name: t("page.subscribe") })
          .first()
          .click();
        await check(page, plain, `${slug}-1-form`);

        await page.getByLabel(t("form.address")).fill("nobody");
        await page.getByRole("button", { name: t("form.submit") }).click();
        await check(page, plain, `${slug}-2-errors`);
        const direction = locale === "ar" ? "rtl" : null;
        expect(await page.locator("html").getAttribute("dir")).toBe(direction);

        await page.getByLabel(t("form.address")).fill(email);
        await page.getByLabel(t("form.some")).check();
        await page.getByLabel("Sign-in").check();
        await check(page, plain, `${slug}-3-selection`);
        await page.getByRole("button", { name: t("form.submit") }).click();
        expect(new URL(page.url()).pathname).toBe(`/status/${slug}/subscribe/sent`);
        await check(page, plain, `${slug}-4-sent`);

        const request = await wait(
          () => listRequests(ctx.db, {}),
          ({ address, state }) => address === email && state === "sent",
        );
        await page.goto(origin + linkPath(ctx, "confirm", request));
        await check(page, plain, `${slug}-5-confirm`);
        await page.getByRole("button", { name: t("confirm.submit") }).click();
        await check(page, plain, `${slug}-6-manage`);
        expect(await page.getByLabel("Sign-in").isChecked()).toBe(true);
        await page.getByLabel(t("form.all")).check();
        await page.getByLabel(t("form.kind.maintenance"), { exact: true }).uncheck();
        await page.getByRole("button", { name: t("manage.save") }).click();
        expect(await page.getByLabel(t("form.all")).isChecked()).toBe(true);
        expect(await page.getByLabel(t("form.kind.maintenance"), { exact: true }).isChecked()).toBe(
          false,
        );

        const find = () => listSubscribers(ctx.db, {}).find(({ address }) => address === email);
        const subscriber = find();
        if (!subscriber) throw new Error("there is no subscriber");
        await page.goto(origin + linkPath(ctx, "unsubscribe", subscriber));
        await check(page, plain, `${slug}-7-unsubscribe`);
        await page.getByRole("button", { name: t("manage.unsubscribe") }).click();
        await check(page, plain, `${slug}-8-unsubscribed`);
        expect(find()?.status).toBe("unsubscribed");
        await page.goto(origin + linkPath(ctx, "decline", request));
        await check(page, plain, `${slug}-9-decline`);
        const { page: dead } = await visit(linkPath(ctx, "manage", subscriber), look);
        expect(await isWiderThanWindow(dead)).toBe(false);
        expect(await site.axe(dead)).toEqual([]);
      },
      JOURNEY_MS,
    );
  });
});
