import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { issueSetUpLink } from "../../src/features/users/invitations";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, HOME_HOST, openSite, shownKeyValue } from "../support/browser-site";
import { runCurl } from "../support/curl";

interface Way {
  host: string;
  hasScripts: boolean;
}

const KEY = "Wall display";
// What Chromium says of signing out over plain HTTP, where it clears no cache; nothing is kept in it.
const CACHE_NOT_CLEARED = /^Clear-Site-Data header on .*: Not supported for insecure origins\.$/;

describeWithBrowser("from the first start to a revoked key", (browser) => {
  test.each([
    { name: "with scripts", host: "127.0.0.1", hasScripts: true },
    { name: "in a home network over plain HTTP, with scripts", host: HOME_HOST, hasScripts: true },
    { name: "in a home network, without scripts", host: HOME_HOST, hasScripts: false },
  ])(
    "an owner sets up, creates, uses and revokes a key: $name",
    async (way) => {
      await using site = await openSite(browser(), { host: way.host });
      const { ctx } = site.app;
      const token = await ctx.db.write((tx) => issueSetUpLink(ctx, tx));
      const {
        page,
        requests,
        errors: pageErrors,
      } = await site.visit(`/admin/setup/${token}`, {
        javaScriptEnabled: way.hasScripts,
        permissions: ["clipboard-read", "clipboard-write"],
      });

      await setUp(page, site, way);
      await page.getByRole("link", { name: "Settings", exact: true }).click();
      await page.getByRole("link", { name: "API Keys" }).click();
      const first = await createKey(page, way);
      await tryKey(page, site, way);
      await leaveReveal(page, way, first);
      await seeLastUse(page, site);

      const second = await rotate(page, way);
      expect(await statusWith(site, first)).toBe(200);
      expect(await statusWith(site, second)).toBe(200);

      await endOldValue(page);
      expect(await statusWith(site, first)).toBe(401);
      expect(await statusWith(site, second)).toBe(200);

      await revoke(page, way);
      expect(await statusWith(site, second)).toBe(401);
      const row = page.getByRole("row").filter({ hasText: KEY });
      expect(await row.textContent()).toContain("Revoked");

      await signOut(page);
      await page.goBack();
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Sign in");
      expect(await page.content()).not.toContain(KEY);

      expect(requests.filter((url) => !url.startsWith(`${site.origin}/`))).toEqual([]);
      expect(pageErrors.filter((line) => !CACHE_NOT_CLEARED.test(line))).toEqual([]);
      await page.context().close();
    },
    600_000,
  );
});

/** The form asks for the address by which it was opened, and signs its sender in. */
async function setUp(page: Page, { app, origin }: BrowserSite, { host }: Way): Promise<void> {
  const address = page.getByLabel("Public address");
  expect(await address.inputValue()).toBe(origin);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill("a wall of words");
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "POST"),
    page.getByRole("button", { name: "Set up" }).click(),
  ]);
  // Browsers do not send the headers that identify the origin of a form over plain HTTP.
  const isSaid = host !== HOME_HOST;
  expect((await sent.allHeaders())["sec-fetch-site"]).toBe(isSaid ? "same-origin" : undefined);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  expect(app.ctx.baseUrl).toBe(origin);
}

/** Creates a key from a preset and answers its value, copied where a script can copy. */
async function createKey(page: Page, { hasScripts }: Way): Promise<string> {
  await page.getByRole("link", { name: "Create API Key" }).first().click();
  await page.getByRole("button", { name: "Read-only dashboard" }).click();
  const name = page.getByLabel("Name", { exact: true });
  expect(await name.inputValue()).toBe("Read-only dashboard");
  expect(await page.getByRole("checkbox", { name: "read:status" }).isChecked()).toBe(true);
  await name.fill(KEY);
  await page.getByRole("button", { name: "Create API Key" }).click();
  const value = await shownKeyValue(page);
  const copy = page.getByRole("button", { name: "Copy key" });
  expect(await copy.isVisible()).toBe(hasScripts);
  if (hasScripts) {
    await copy.click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
  }
  return value;
}

/** Runs the command on the page and presses the button that tests the key. */
async function tryKey(page: Page, { origin }: BrowserSite, { hasScripts }: Way): Promise<void> {
  const command = (await page.getByText(/^curl /).textContent()) ?? "";
  const answer = await runCurl(command, new URL(origin).host);
  expect(answer).toMatchObject({ status: 200, body: { name: KEY, rate_limit: 1000 }, errors: "" });
  const test = page.getByRole("button", { name: "Test key" });
  expect(await test.isVisible()).toBe(hasScripts);
  if (!hasScripts) return;
  await test.click();
  await page.getByText(/^Works: 1,000 requests a minute, [\d,]+ left$/).waitFor();
}

/** Goes to the list, where what was copied can be pasted. */
async function leaveReveal(page: Page, { hasScripts }: Way, value: string): Promise<void> {
  await page.getByRole("link", { name: "I have stored it" }).click();
  const search = page.getByRole("searchbox");
  await search.focus();
  if (!hasScripts) return;
  await page.keyboard.press("Control+V");
  expect(await search.inputValue()).toBe(value);
}

async function seeLastUse(page: Page, { app }: BrowserSite): Promise<void> {
  await app.app.usage.flush();
  await page.reload();
  const row = page.getByRole("row").filter({ hasText: KEY });
  const lastUse = await row.getByRole("cell").nth(4).textContent();
  expect(lastUse).toMatch(/^(just now|\d+ s ago)127\.0\.0\.1$/);
  const day = row.getByRole("img", { name: /^[12] requests? in the last 24 hours$/ });
  expect(await day.count()).toBe(1);
}

/** Rotates the key with an hour's overlap and answers the new value. */
async function rotate(page: Page, way: Way): Promise<string> {
  await page.getByRole("link", { name: KEY }).click();
  const question = await openConfirmation(page, "Rotate", `Rotate “${KEY}”`, way);
  await question.getByLabel("In 1 hour").check();
  await question.getByRole("button", { name: "Rotate key" }).click();
  return shownKeyValue(page);
}

/** Follows a link that asks before something is done: in a dialog with scripts, else on a page. */
async function openConfirmation(page: Page, link: string, title: string, { hasScripts }: Way) {
  const before = page.url();
  const opener = page.getByRole("link", { name: link, exact: true });
  if (!(await opener.isVisible())) await page.locator(".more-menu > summary").click();
  await opener.click();
  const question = hasScripts
    ? page.getByRole("dialog", { name: title })
    : page.getByRole("main").filter({ has: page.getByRole("heading", { name: title }) });
  await question.waitFor();
  expect(page.url() === before).toBe(hasScripts);
  return question;
}

async function endOldValue(page: Page): Promise<void> {
  await page.getByRole("link", { name: KEY }).click();
  const button = page.getByRole("button", { name: "End old value now" });
  await button.click();
  await button.waitFor({ state: "detached" });
}

async function revoke(page: Page, way: Way): Promise<void> {
  const question = await openConfirmation(page, "Revoke", `Revoke “${KEY}”`, way);
  await question.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
}

/** Sends a request with a key value and returns its HTTP status. */
async function statusWith({ origin }: BrowserSite, value: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${new URL(origin).port}/api/v1/key`, {
    headers: { authorization: `Bearer ${value}` },
  });
  return answer.status;
}
