import { expect, test } from "bun:test";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { setHidden } from "../support/hidden-tab";
import { openAcme, openScreen, turn } from "../support/live-screen";

describeWithBrowser("the requests of an open screen of the dashboard", (browser) => {
  test("an unchanged screen answers 304, and the sign says when it was updated", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page } = await openScreen(site, "/admin/components", session);
    expect((await turn(page)).status()).toBe(200);
    expect((await turn(page)).status()).toBe(304);
    await page.clock.runFor(1_000);
    await page.getByText(/^Live · updated [0-4] s ago$/).waitFor();
  }, 600_000);

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
  }, 600_000);

  test("a request without an answer is given up, and the connection is shown as lost", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page, asked } = await openScreen(site, "/admin", session);
    // Never answered.
    await page.route("**/admin", () => {});
    const given = page.waitForEvent("requestfailed");
    await page.clock.runFor(4_000);
    await page.clock.runFor(12_000);
    await given;
    await page.clock.runFor(5_000);
    const lost = page.locator(".live.is-held");
    await lost.getByText("Connection lost, trying again").waitFor();
    expect(asked.count).toBeGreaterThanOrEqual(1);
    await page.unroute("**/admin");
    // A request that was held until now can be answered first.
    expect([200, 304]).toContain((await turn(page, 31_000)).status());
    await page.locator(".live:not(.is-held)").waitFor();
  }, 600_000);

  test("an updated server is shown with a link that loads its new version", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page, asked } = await openScreen(site, "/admin", session);
    await page.route("**/admin", async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace(/\/assets\/allclear\.\w+\.css/, "/assets/new.css");
      await route.fulfill({ response: answer, body });
    });
    await turn(page);
    await page.getByText("New version").waitFor();
    const link = page.locator(".live").getByRole("link", { name: "Reload" });
    expect(await link.getAttribute("href")).toBe("/admin");
    await page.clock.runFor(60_000);
    expect(asked.count).toBe(1);
  }, 600_000);

  test("a time zone chosen in another tab is shown with a link, so that no screen mixes two zones", async () => {
    await using site = await openSite(browser());
    const { session, report } = await openAcme(site);
    const { page, errors } = await openScreen(site, "/admin/incidents", session);
    const form = { time_zone: "Asia/Kathmandu" };
    await site.app.call("/admin/settings/account/time-zone", { session, form });
    await report("The API is down");
    await turn(page);
    await page.getByText("New time zone").waitFor();
    expect(await page.locator(".bar-time b").textContent()).toEndWith(" UTC");
    expect(await page.locator("#main").getByText("The API is down").count()).toBe(0);
    await page.locator(".live").getByRole("link", { name: "Reload" }).click();
    await page.locator("#main").getByText("The API is down").first().waitFor();
    expect(await page.locator(".bar-time b").textContent()).toEndWith(" UTC+5:45");
    expect(errors).toEqual([]);
  }, 600_000);

  test("a browser that does not know the time zone of its user shows the time in UTC and stays current", async () => {
    await using site = await openSite(browser());
    const { session, report } = await openAcme(site);
    const form = { time_zone: "Asia/Kathmandu" };
    await site.app.call("/admin/settings/account/time-zone", { session, form });
    const visit = await site.visit("/docs/errors", { session, isLive: true });
    const { page, errors } = visit;
    await page.route("**/admin/incidents", async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).replace(
        /data-time-zone="[^"]+"/,
        'data-time-zone="Mars/Base"',
      );
      await route.fulfill({ response: answer, body });
    });
    await page.clock.install();
    await page.goto(`${site.origin}/admin/incidents`);
    await report("The API is down");
    await turn(page);
    await page.locator("#main").getByText("The API is down").first().waitFor();
    expect(await page.locator(".bar-time b").textContent()).toMatch(/^\d\d:\d\d UTC$/);
    expect(errors).toEqual([]);
  }, 600_000);

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
  }, 600_000);

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
  }, 600_000);

  test("a screen without JavaScript shows its time and a link that reloads it", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const { page } = await site.visit("/admin", { session, javaScriptEnabled: false });
    expect(await page.locator(".live").textContent()).toMatch(/^As of \d\d:\d\d UTC · Reload$/);
    await page.getByRole("link", { name: "Reload" }).click();
    await page.waitForURL("**/admin");
  }, 600_000);
});
