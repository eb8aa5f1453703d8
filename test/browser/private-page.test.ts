import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { runAxeOnCopy } from "../support/axe";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, HOME_HOST, openSite, PLAIN_HOST } from "../support/browser-site";
import { isWiderThanWindow, PHONE } from "../support/public-documents";
import { createPageAccess, PAGE_PASSWORD, type PageAccess } from "../support/page-access";

const WORD = "Quokka";
const JOURNEY_MS = 120_000;

const LOOKS: readonly [string, BrowserContextOptions][] = [
  ["wide and light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
  ["on a dark phone", { viewport: PHONE, colorScheme: "dark" }],
  ["wide and light without scripts", { colorScheme: "light", javaScriptEnabled: false }],
  [
    "on a dark phone without scripts",
    { viewport: PHONE, colorScheme: "dark", javaScriptEnabled: false },
  ],
];

describeWithBrowser("a private page in a browser", (browser) => {
  describe.each([
    ["HTTP", false],
    ["HTTPS", true],
  ])("over %s", (_scheme, isSecure) => {
    let site: BrowserSite;
    let pageId: string;
    let access: PageAccess;
    let incident: string;
    /** Window with scripts and without a policy that forbids them, in which axe checks copies of documents. */
    let copies: Page;
    beforeAll(async () => {
      // Over plain HTTP, the name of a home network: browsers trust loopback as if it had HTTPS.
      site = await openSite(browser(), isSecure ? { isSecure } : { host: HOME_HOST });
      const { app, origin } = site;
      app.ctx.baseUrl = origin;
      const { page } = await app.page({
        slug: "inside",
        name: `${WORD} Ltd`,
        visibility: "private",
        custom_domains: [PLAIN_HOST],
      });
      pageId = page.id;
      access = createPageAccess(app, pageId);
      const key = await app.keyWith("write:incidents");
      const json = { page: "inside", name: `${WORD} is slow`, body: "We look." };
      incident = (await app.call("/api/v1/incidents", { method: "POST", key, json })).body.id;
      copies = (await site.visit("/docs/errors", { ignoreHTTPSErrors: true, bypassCSP: true }))
        .page;
    }, 600_000);
    afterAll(async () => {
      await site?.[Symbol.asyncDispose]();
    });

    const visit = (path: string, look: BrowserContextOptions) =>
      site.visit(path, { ...look, ignoreHTTPSErrors: true });

    /** Checks an open document: accessible, within the window, without a request to another host. */
    async function check(page: Page, look: BrowserContextOptions): Promise<void> {
      expect(await isWiderThanWindow(page)).toBe(false);
      await copies.setViewportSize(look.viewport ?? { width: 1280, height: 900 });
      await copies.emulateMedia({ colorScheme: look.colorScheme ?? "light" });
      expect(await runAxeOnCopy(page, copies)).toEqual([]);
    }

    /** Console errors and requests of a visit that should not be there. */
    const faultsOf = ({ errors, requests }: { errors: string[]; requests: string[] }) => [
      ...errors.filter((text) => !/status of (401|404|422)/.test(text)),
      ...requests.filter((url) => !url.startsWith("data:") && !url.startsWith(site.origin)),
    ];

    test.each(LOOKS)(
      "the password opens the document that the visitor asked for, by the keyboard, %s",
      async (_look, look) => {
        const { origin } = site;
        await access.password(PAGE_PASSWORD);
        const path = `/status/inside/incidents/${incident}`;
        const opened = await visit(path, look);
        const { page } = opened;
        expect(await page.content()).not.toContain(WORD);
        await check(page, look);

        await page.getByLabel("Password").fill("a wrong password");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
        expect(new URL(page.url()).pathname).toStartWith("/status/inside");
        expect(await page.getByLabel("Password").inputValue()).toBe("");
        expect(await page.content()).not.toContain(WORD);
        await check(page, look);

        await page.getByLabel("Password").fill(PAGE_PASSWORD);
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: `${WORD} is slow` }).waitFor();
        expect(page.url()).toBe(origin + path);
        await check(page, look);

        const cookies = await page.context().cookies();
        expect(cookies).toHaveLength(1);
        expect(cookies[0]).toMatchObject({
          name: isSecure ? `__Host-allclear_${pageId}` : `allclear_${pageId}`,
          secure: isSecure,
          httpOnly: true,
          sameSite: "Lax",
          path: "/",
        });
        const days = ((cookies[0]?.expires ?? 0) * 1_000 - Date.now()) / 86_400_000;
        expect(days).toBeGreaterThan(29.9);
        expect(days).toBeLessThan(30.1);

        for (const below of ["/status/inside", "/status/inside/history", "/"]) {
          const answer = await page.goto(origin + below);
          expect([below, answer?.status()]).toEqual([below, 200]);
          expect(await page.content()).toContain(WORD);
        }
        await page.goto(`${origin}/status/inside`);
        await check(page, look);
        expect(faultsOf(opened)).toEqual([]);

        // A new password ends the visit.
        await access.password("another password 2");
        await page.reload();
        expect(await page.getByLabel("Password").isVisible()).toBe(true);
        expect(await page.content()).not.toContain(WORD);
        await page.context().close();
      },
      JOURNEY_MS,
    );

    test.each(LOOKS)(
      "a link opens the page without a word of the token in its address, and ends when it is revoked, %s",
      async (_look, look) => {
        const { origin } = site;
        await access.password(null);
        const link = await access.link("Partners");
        const opened = await visit(`/status/inside/with/${link.token}/history`, look);
        const { page } = opened;
        expect(page.url()).toBe(`${origin}/status/inside/history`);
        expect(await page.content()).toContain(`${WORD} Ltd`);
        expect(await page.content()).not.toContain(link.token);
        expect(await page.evaluate(() => document.referrer)).not.toContain(link.token);
        await check(page, look);
        await page.getByRole("link", { name: "Status", exact: true }).first().click();
        await page.waitForURL(`${origin}/status/inside`);
        expect(faultsOf(opened)).toEqual([]);
        await access.revoke(link.link.id);
        const answer = await page.reload();
        expect(answer?.status()).toBe(404);
        expect(await page.content()).not.toContain(WORD);
        await page.context().close();
      },
      JOURNEY_MS,
    );

    test("an open page refreshes itself for a guest, and leaves the screen when the grant ends", async () => {
      await access.password(null);
      const link = await access.link("Partners");
      const { page } = await visit(`/status/inside/with/${link.token}`, {});
      const asked = page.waitForResponse(/\/status\/inside\/version$/);
      // A tab that is shown asks at once.
      const show = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await show();
      expect((await asked).status()).toBe(200);
      await page.reload();
      await access.revoke(link.link.id);
      const reloaded = page.waitForResponse(
        (response) => response.url().endsWith("/status/inside") && response.status() === 404,
      );
      await show();
      await (await reloaded).finished();
      await page.waitForLoadState();
      expect(await page.content()).not.toContain(WORD);
      await page.context().close();
    });

    if (!isSecure) {
      test("a page's own domain asks for the password at its root and then shows the page there", async () => {
        const { origin } = site;
        await access.password(PAGE_PASSWORD);
        const { page } = await visit("/docs/errors", {});
        const own = origin.replace(HOME_HOST, PLAIN_HOST);
        expect((await page.goto(own))?.status()).toBe(401);
        await page.getByLabel("Password").fill(PAGE_PASSWORD);
        await page.keyboard.press("Enter");
        await page.getByText(`${WORD} Ltd`).first().waitFor();
        expect(new URL(page.url()).host).toBe(new URL(own).host);
        // The grant of one host is none of another.
        expect((await page.goto(`${origin}/status/inside`))?.status()).toBe(401);
        await page.context().close();
      });
    }
  });
});
