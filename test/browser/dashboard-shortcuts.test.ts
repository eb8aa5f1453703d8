import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { SCREENS } from "../support/screens";
import { describeScreens } from "../support/test-screens";

describeScreens("the keyboard shortcuts of the dashboard", (tour) => {
  async function open(name: string): Promise<Page> {
    const screen = SCREENS.find((known) => known.name === name);
    if (!screen) throw new Error(`there is no screen ${name}`);
    return (await tour().show(screen)).page;
  }

  /** Returns the path once it is the expected one. */
  async function waitForPath(page: Page, path: RegExp): Promise<void> {
    await page.waitForURL((url) => path.test(url.pathname));
  }

  test("a slash opens the search, and Enter opens the first result", async () => {
    const page = await open("keys");
    await page.keyboard.press("/");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("searchbox").waitFor();
    await page.keyboard.type("analyt");
    await dialog.getByRole("link", { name: "Analytics" }).waitFor();
    await page.keyboard.press("Enter");
    await waitForPath(page, /^\/admin\/analytics$/);
  }, 600_000);

  test("arrow keys move through the results, and Escape leads back", async () => {
    const page = await open("keys");
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("searchbox").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const second = await dialog.getByRole("link").nth(1).textContent();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(second ?? "");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("search");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }, 600_000);

  test("the focus returns to where it was before a key", async () => {
    const page = await open("keys");
    const link = page.getByRole("main").getByRole("link").first();
    for (const key of ["/", "?"]) {
      await link.focus();
      await page.keyboard.press(key);
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
    }
  }, 600_000);

  test("Enter opens nothing while an input method is used, and no earlier result", async () => {
    const page = await open("keys");
    const path = new URL(page.url()).pathname;
    await page.keyboard.press("/");
    const dialog = page.getByRole("dialog");
    const field = dialog.getByRole("searchbox");
    await field.waitFor();
    const press = (init: { key?: string; isComposing?: boolean; ctrlKey?: boolean }) =>
      field.evaluate(
        (input: HTMLElement, options) =>
          input.dispatchEvent(
            new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...options }),
          ),
        { key: "Enter", ...init },
      );
    // An event that nothing handles is not cancelled.
    expect(await press({ isComposing: true })).toBe(true);
    expect(await press({ ctrlKey: true })).toBe(true);
    expect(await press({ key: "ArrowDown", isComposing: true })).toBe(true);
    expect(new URL(page.url()).pathname).toBe(path);
    await page.route("**/admin/search?*", (route) =>
      route.request().isNavigationRequest() ? route.continue() : route.abort(),
    );
    await field.fill("analytics");
    await page.keyboard.press("Enter");
    await waitForPath(page, /^\/admin\/search$/);
    expect(new URL(page.url()).searchParams.get("q")).toBe("analytics");
    await page.unrouteAll();
  }, 600_000);

  test("a search without results is announced by an element that was there before", async () => {
    const page = await open("keys");
    await page.keyboard.press("/");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("searchbox").waitFor();
    const status = await dialog.getByRole("status").elementHandle();
    await page.keyboard.type("nothing has this name");
    await dialog.getByText("Nothing was found for “nothing has this name”.").waitFor();
    expect(await status?.evaluate((element) => element.isConnected && element.textContent)).toBe(
      "Nothing was found for “nothing has this name”.",
    );
    expect(await dialog.getByRole("listitem").count()).toBe(0);
  }, 600_000);

  test("results that arrive late keep the focus on the same link", async () => {
    const page = await open("keys");
    await page.keyboard.press("/");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("searchbox").waitFor();
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route("**/admin/search?*", async (route) => {
      asked.resolve();
      await answered.promise;
      await route.continue();
    });
    await page.keyboard.type("analyt");
    await asked.promise;
    const link = dialog.getByRole("link", { name: "Analytics" });
    await link.focus();
    answered.resolve();
    await dialog.getByRole("link", { name: "Monitors" }).waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Analytics");
    await page.unrouteAll();
  }, 600_000);

  test("a key with Control and Shift belongs to the browser", async () => {
    const page = await open("keys");
    await page.keyboard.press("Control+Shift+K");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Report incident").waitFor();
    expect(await page.getByRole("dialog").getByRole("searchbox").count()).toBe(0);
  }, 600_000);

  test("c reports an incident, and g with a letter opens a screen", async () => {
    const page = await open("keys");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await waitForPath(page, /^\/admin\/monitors$/);
    await page.keyboard.press("c");
    await waitForPath(page, /^\/admin\/incidents\/new$/);
    // Screens below an entry of the sidebar have letters too.
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await waitForPath(page, /^\/admin\/settings\/keys$/);
  }, 600_000);

  test("a key outside a form opens no other screen while the form has unsaved text", async () => {
    const page = await open("report");
    const path = new URL(page.url()).pathname;
    const field = page.getByRole("main").getByRole("textbox").first();
    await field.fill("Checkout fails");
    await field.blur();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    expect(await field.inputValue()).toBe("Checkout fails");
  }, 600_000);

  test.each([
    ["Control+k", { key: "k", ctrlKey: true }],
    ["a slash", { key: "/" }],
  ])(
    "%s opens the search also while another dialog closes",
    async (_, pressed) => {
      const page = await open("keys");
      await page.keyboard.press("?");
      const dialog = page.getByRole("dialog");
      await dialog.getByText("Report incident").waitFor();
      // The event "close", whose listener removes the dialog, is dispatched only afterwards.
      await page.evaluate((init) => {
        document.querySelector("dialog")?.close();
        const event = new KeyboardEvent("keydown", { ...init, bubbles: true, cancelable: true });
        document.body.dispatchEvent(event);
      }, pressed);
      await dialog.getByRole("searchbox").waitFor();
      expect(await page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe(
        "search",
      );
    },
    600_000,
  );

  test("keys that are typed into a field open nothing", async () => {
    const page = await open("keys");
    const field = page.getByRole("main").getByRole("searchbox");
    await field.focus();
    await page.keyboard.type("c/?gm");
    expect(await field.inputValue()).toBe("c/?gm");
    expect(await page.getByRole("dialog").count()).toBe(0);
  }, 600_000);

  test("a question mark lists the shortcuts, which can be turned off and on", async () => {
    const page = await open("keys");
    const path = new URL(page.url()).pathname;
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Report incident").waitFor();
    await dialog.getByRole("button", { name: "Turn shortcuts off in this browser" }).click();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.press("c");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe(path);
    await page.keyboard.press("Control+k");
    await dialog.getByRole("link", { name: "Keyboard shortcuts" }).click();
    await page.getByRole("button", { name: "Turn shortcuts on in this browser" }).click();
    await page.getByRole("button", { name: "Turn shortcuts off in this browser" }).waitFor();
  }, 600_000);
});
