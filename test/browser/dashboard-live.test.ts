import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { describeWithBrowser } from "../support/browser";
import { type BrowserSite, openSite } from "../support/browser-site";
import { setHidden } from "../support/hidden-tab";

/** Opens a screen whose timers the test owns. */
async function openScreen(site: BrowserSite, path: string, session: string) {
  const visit = await site.visit("/docs/errors", { session });
  const asked = { count: 0 };
  visit.page.on("request", (request) => {
    if (request.headers()["allclear-live"] !== undefined) asked.count += 1;
  });
  await visit.page.clock.install();
  await visit.page.goto(site.origin + path);
  return { ...visit, asked };
}

/** Lets the time of a screen pass until it has asked for itself. */
async function turn(page: Page, ms = 4_000) {
  const answer = page.waitForResponse(
    (response) => "allclear-live" in response.request().headers(),
  );
  await page.clock.runFor(ms);
  return answer;
}

async function openAcme(site: BrowserSite) {
  const { components } = await site.app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const key = await site.app.keyWith("write:incidents");
  const session = await site.app.signedIn("owner");
  return {
    session,
    async report(name: string) {
      const api = components["API"] ?? "";
      const json = { page: "acme", name, body: "We look.", components: { [api]: "major_outage" } };
      const answer = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
      expect(answer.status).toBe(201);
      return answer.body.id as string;
    },
    async update(id: string, json: object) {
      const path = `/api/v1/incidents/${id}/updates`;
      expect((await site.app.call(path, { method: "POST", key, json })).status).toBe(201);
    },
  };
}

describeWithBrowser("an open screen of the dashboard", (browser) => {
  test("a change appears in two open tabs: in the list, the sidebar and the tab bar", async () => {
    await using site = await openSite(browser());
    const { session, report } = await openAcme(site);
    const tabs = [
      await openScreen(site, "/admin/incidents", session),
      await openScreen(site, "/admin", session),
    ];
    await report("The API is down");
    for (const { page, errors } of tabs) {
      await turn(page);
      await page.locator("#main").getByText("The API is down").first().waitFor();
      expect(await page.locator("#menu-links .n").first().textContent()).toBe("1 open");
      expect(await page.locator("#side-page small").first().textContent()).toContain("outage");
      const region = page.locator('p[role="status"]').last();
      expect(await region.textContent()).toContain("Incidents: 1 open.");
      expect(await page.locator(".live").textContent()).toStartWith("Live · updated ");
      expect(errors).toEqual([]);
    }
  }, 60_000);

  test("an unchanged screen answers 304, and the sign says when it was updated", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page } = await openScreen(site, "/admin/components", session);
    expect((await turn(page)).status()).toBe(200);
    expect((await turn(page)).status()).toBe(304);
    await page.clock.runFor(1_000);
    await page.getByText(/^Live · updated [0-4] s ago$/).waitFor();
  }, 60_000);

  test("a form that is filled in is not replaced while the blocks around it change", async () => {
    await using site = await openSite(browser());
    const { session, report, update } = await openAcme(site);
    const id = await report("The API is down");
    const { page } = await openScreen(site, `/admin/incidents/${id}`, session);
    const field = page.locator("textarea[name=body]");
    await field.fill("half a wo");
    const form = await field.evaluateHandle((element) => element.closest("form"));
    await update(id, { status: "identified", body: "The disk is full." });
    await turn(page);
    await page.locator("#main").getByText("The disk is full.").first().waitFor();
    expect(await page.locator(".live").textContent()).toStartWith("Paused while you write");
    // The next form differs, since no further update is expected. The typed text stays nevertheless.
    await update(id, { status: "resolved", body: "It is solved." });
    await turn(page);
    await page.getByRole("button", { name: /^Show \d changes?$/ }).click();
    await page.getByText("Add an update, or reopen the incident").waitFor();
    const typed = (element: Element | null) =>
      element?.isConnected && element.querySelector("textarea")?.value;
    expect(await form.evaluate(typed)).toBe("half a wo");
  }, 60_000);

  test("a block with a selection waits until its changes are asked for", async () => {
    await using site = await openSite(browser());
    const { session, report } = await openAcme(site);
    await report("The first one");
    const { page } = await openScreen(site, "/admin/incidents", session);
    await page.getByRole("link", { name: "The first one" }).evaluate((link) => {
      getSelection()?.selectAllChildren(link);
    });
    await report("The second one");
    await turn(page);
    const button = page.getByRole("button", { name: /^Show \d changes?$/ });
    await button.waitFor();
    expect(await page.getByRole("link", { name: "The second one" }).count()).toBe(0);
    await button.click();
    await page.getByRole("link", { name: "The second one" }).waitFor();
    expect(await button.count()).toBe(0);
  }, 60_000);

  test("a hidden screen asks nothing, and asks at once when it is shown again", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page, asked } = await openScreen(site, "/admin", session);
    await setHidden(page, true);
    await page.clock.runFor(10 * 60_000);
    expect(asked.count).toBe(0);
    const answer = page.waitForResponse(
      (response) => "allclear-live" in response.request().headers(),
    );
    await setHidden(page, false);
    expect((await answer).status()).toBe(200);
  }, 60_000);

  test("Retry-After is honoured, and a lost connection is shown after 15 seconds", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page, asked } = await openScreen(site, "/admin", session);
    await page.route("**/admin", (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "40" } }),
    );
    expect((await turn(page)).status()).toBe(429);
    await page.clock.runFor(35_000);
    expect(asked.count).toBe(1);
    const lost = page.locator(".live.is-held");
    expect(await lost.textContent()).toStartWith("Connection lost, trying again · last updated ");
    await page.unroute("**/admin");
    expect((await turn(page, 10_000)).status()).toBe(200);
    await page.locator(".live:not(.is-held)").waitFor();
  }, 60_000);

  test("an ended session is shown with a link that returns to the screen", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page, asked } = await openScreen(site, "/admin/monitors?q=api", session);
    await page.context().clearCookies();
    expect((await turn(page)).status()).toBe(401);
    const link = page.getByRole("link", { name: "Sign in" });
    await link.waitFor();
    expect(await page.locator(".live").textContent()).toBe("Signed out · Sign in");
    expect(await link.getAttribute("href")).toBe(
      "/admin/sign-in?next=%2Fadmin%2Fmonitors%3Fq%3Dapi",
    );
    await page.clock.runFor(60_000);
    expect(asked.count).toBe(1);
  }, 60_000);

  test("a screen without JavaScript shows its time and a link that reloads it", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page } = await site.visit("/admin", { session, javaScriptEnabled: false });
    expect(await page.locator(".live").textContent()).toMatch(/^As of \d\d:\d\d UTC · Reload$/);
    await page.getByRole("link", { name: "Reload" }).click();
    await page.waitForURL("**/admin");
  }, 60_000);
});
