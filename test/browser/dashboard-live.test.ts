import { expect, test } from "bun:test";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { openAcme, openScreen, turn } from "../support/live-screen";

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
  }, 600_000);

  test("the first key appears in an empty list, and the next one while a search is typed, which stays", async () => {
    await using site = await openSite(browser());
    const session = await site.app.signedIn("admin");
    const { page, errors } = await openScreen(site, "/admin/settings/keys", session);
    await page.getByRole("heading", { name: "No API keys yet" }).waitFor();
    await site.app.createKey({ name: "Deploy bot" });
    await turn(page);
    await page.getByRole("row").filter({ hasText: "Deploy bot" }).waitFor();
    expect(await page.getByRole("heading", { name: "No API keys yet" }).count()).toBe(0);
    const search = page.getByRole("searchbox");
    await search.fill("half a wo");
    await site.app.createKey({ name: "Nightly report" });
    await turn(page);
    await page.getByRole("row").filter({ hasText: "Nightly report" }).waitFor();
    expect(await search.inputValue()).toBe("half a wo");
    expect(errors).toEqual([]);
  }, 600_000);

  test("the first monitor appears in an empty list with tabs and a search, and the next one while it is typed", async () => {
    await using site = await openSite(browser());
    const key = await site.app.keyWith("manage:monitors");
    const create = async (name: string) => {
      const json = { type: "http", name, config: { url: "https://shop.example.com/" } };
      const answer = await site.app.call("/api/v1/monitors", { method: "POST", key, json });
      expect(answer.status).toBe(201);
    };
    const admin = await openScreen(site, "/admin/monitors", await site.app.signedIn("admin"));
    const viewer = await openScreen(site, "/admin/monitors", await site.app.signedIn("viewer"));
    for (const { page } of [admin, viewer]) {
      await page.getByRole("heading", { name: "No monitors yet" }).waitFor();
    }
    await create("Shop");
    for (const { page, errors } of [admin, viewer]) {
      await turn(page);
      await page.getByRole("row").filter({ hasText: "Shop" }).waitFor();
      expect(await page.getByRole("heading", { name: "No monitors yet" }).count()).toBe(0);
      expect(await page.locator("#monitor-states a").allTextContents()).toHaveLength(2);
      expect(errors).toEqual([]);
    }
    const search = admin.page.getByRole("searchbox");
    await search.fill("half a wo");
    await create("Checkout");
    await turn(admin.page);
    await admin.page.getByRole("row").filter({ hasText: "Checkout" }).waitFor();
    expect(await search.inputValue()).toBe("half a wo");
  }, 600_000);

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
    // No further update is expected, so the form gives way. The typed text stays nevertheless.
    await update(id, { status: "resolved", body: "It is solved." });
    await turn(page);
    await page.getByRole("button", { name: /^Show \d changes?$/ }).click();
    await page.getByRole("link", { name: "Write post-mortem" }).waitFor();
    const typed = (element: Element | null) =>
      element?.isConnected && element.querySelector("textarea")?.value;
    expect(await form.evaluate(typed)).toBe("half a wo");
  }, 600_000);

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
  }, 600_000);

  test("the list of what needs attention comes first and goes again, with the lanes below it", async () => {
    await using site = await openSite(browser());
    const { session, report, update } = await openAcme(site);
    const { page } = await openScreen(site, "/admin", session);
    const blocks = () =>
      page.locator("main section[id]").evaluateAll((all) => all.map(({ id }) => id));
    expect(await blocks()).toEqual(["first-steps", "health"]);
    const id = await report("The API is down");
    await turn(page);
    await page.locator("#last-day").waitFor();
    expect((await blocks()).slice(0, 4)).toEqual([
      "first-steps",
      "attention",
      "health",
      "last-day",
    ]);
    expect(await page.locator("#now.beside").count()).toBe(1);
    await update(id, { status: "resolved", body: "It is solved." });
    await turn(page);
    await page.getByText("Nothing needs attention.").waitFor();
    expect((await blocks()).slice(0, 3)).toEqual(["first-steps", "health", "attention"]);
    expect(await page.locator("#now.beside").count()).toBe(0);
  }, 600_000);

  test("the first steps are ticked and go without a reload", async () => {
    await using site = await openSite(browser());
    const { session } = await openAcme(site);
    const key = await site.app.keyWith("manage:monitors", "manage:webhooks", "read:status");
    const create = async (path: string, json: object) => {
      const answer = await site.app.call(`/api/v1/${path}`, { method: "POST", key, json });
      expect(answer.status).toBe(201);
    };
    const { page } = await openScreen(site, "/admin", session);
    await page.getByText("3 of 5 done").waitFor();
    const config = { url: "https://shop.example.com/" };
    await create("monitors", { type: "http", name: "Shop", config });
    await turn(page);
    await page.getByText("4 of 5 done").waitFor();
    await create("webhooks", { url: "https://hooks.example.com/", events: ["*"] });
    await turn(page);
    await page.locator("#first-steps").waitFor({ state: "detached" });
    expect(await page.locator("#now").count()).toBe(1);
  }, 600_000);

  test("a focused link stays until the focus has left it, although its object is gone", async () => {
    await using site = await openSite(browser());
    const { session, report, update } = await openAcme(site);
    const id = await report("The API is down");
    const { page } = await openScreen(site, "/admin", session);
    const link = page.locator("#attention .row-title a").first();
    await link.focus();
    await update(id, { status: "resolved", body: "It is solved." });
    await turn(page);
    await page.getByRole("button", { name: /^Show \d changes?$/ }).waitFor();
    expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.locator("h1").evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.clock.runFor(2_000);
    await page.getByText("Nothing needs attention.").waitFor();
  }, 600_000);

  test("a change that was undone before its announcement is not announced, and an end is", async () => {
    await using site = await openSite(browser());
    const { session, report, update } = await openAcme(site);
    const { page } = await openScreen(site, "/admin", session);
    const region = page.locator('p[role="status"]').last();
    await region.evaluate((element) => {
      new MutationObserver(() => {
        const before = element.getAttribute("data-said") ?? "";
        element.setAttribute("data-said", `${before}[${element.textContent}]`);
      }).observe(element, { childList: true });
    });
    const first = await report("The API is down");
    await turn(page);
    await region.getByText("Incidents: 1 open.").waitFor({ state: "attached" });
    // Within the next ten seconds: a second incident that ends at once.
    const second = await report("The API is slow");
    await turn(page, 3_000);
    await update(second, { status: "resolved", body: "It is solved." });
    await turn(page, 3_000);
    await page.clock.runFor(10_000);
    const said = async () => (await region.getAttribute("data-said")) ?? "";
    expect(await said()).toMatch(/^\[[^\]]*Incidents: 1 open\.\]$/);
    await update(first, { status: "resolved", body: "It is solved." });
    await turn(page, 6_000);
    await region.getByText("Incidents: 0 open.").waitFor({ state: "attached" });
    expect(await said()).toMatch(/\]\[[^\]]*All systems operational\.[^\]]*\]$/);
  }, 600_000);

  test("selected rows wait for changes, keep their ticks, and never pass them on to another object", async () => {
    await using site = await openSite(browser());
    const session = await site.app.signedIn("owner");
    const key = await site.app.keyWith("manage:monitors", "read:status");
    const call = (method: string, path = "", json?: object) =>
      site.app.call(`/api/v1/monitors${path}`, { method, key, ...(json ? { json } : {}) });
    const create = async (name: string) => {
      const config = { url: "https://shop.example.com/" };
      return (await call("POST", "", { type: "http", name, config })).body.id as string;
    };
    const shop = await create("Shop");
    await create("Wiki");
    const { page } = await openScreen(site, "/admin/monitors", session);
    const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}` });
    await box("Shop").check();
    await box("Wiki").check();
    expect((await call("DELETE", `/${shop}`)).status).toBe(204);
    await create("Blog");
    await turn(page);
    const button = page.getByRole("button", { name: /^Show \d changes?$/ });
    await button.waitFor();
    expect(await box("Blog").count()).toBe(0);
    await button.click();
    await box("Blog").waitFor();
    expect(await box("Wiki").isChecked()).toBe(true);
    expect(await box("Blog").isChecked()).toBe(false);
  }, 600_000);
});
