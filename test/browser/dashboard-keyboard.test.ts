import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { SCREENS } from "../support/screens";
import { describeScreens } from "../support/test-screens";

/** Largest number of Tab presses before the main control of a screen. */
const STOPS_MAX = 60;

describeScreens("the dashboard by keyboard", (tour) => {
  async function open(name: string): Promise<Page> {
    const screen = SCREENS.find((known) => known.name === name);
    if (!screen) throw new Error(`there is no screen ${name}`);
    return (await tour().show(screen)).page;
  }

  test.each([
    { screen: "overview", role: "link", name: "Report incident" },
    { screen: "report", role: "button", name: "Publish incident" },
    { screen: "incident", role: "button", name: "Publish update" },
    { screen: "plan", role: "button", name: "Plan maintenance" },
    { screen: "planned", role: "link", name: "Start now" },
    { screen: "component", role: "link", name: "Set status" },
    { screen: "page-general", role: "button", name: "Save changes" },
    { screen: "keys", role: "link", name: "Create API Key" },
    { screen: "create", role: "button", name: "Create API Key" },
    { screen: "key", role: "link", name: "Rotate" },
    { screen: "rotate", role: "button", name: "Rotate key" },
    { screen: "users", role: "link", name: "Invite user" },
    { screen: "user", role: "button", name: "Save role" },
    { screen: "general", role: "button", name: "Save address" },
    { screen: "account", role: "button", name: "Change password" },
  ] as const)(
    "Tab reaches the skip link first and then $name on $screen",
    async ({ screen, role, name }) => {
      const page = await open(screen);
      await page.keyboard.press("Tab");
      const skip = page.getByRole("link", { name: "Skip to content" });
      await waitForFocus(skip);
      expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
      await page.keyboard.press("Enter");
      await waitForFocus(page.getByRole("main"));
      const action = page.getByRole("main").getByRole(role, { name, exact: true });
      await tabTo(page, action);
      expect(await page.evaluate(() => document.activeElement?.matches(":focus-visible"))).toBe(
        true,
      );
    },
    600_000,
  );

  test("the sign-in form focuses its first field and can be used with Tab and Enter alone", async () => {
    const page = await open("sign-in");
    await waitForFocus(page.getByLabel("E-mail"));
    await page.keyboard.type("nobody@northwind.example");
    await page.keyboard.press("Tab");
    await waitForFocus(page.getByLabel("Password"));
    await page.keyboard.type("not the password");
    await page.keyboard.press("Enter");
    await page.getByText("The e-mail or the password is wrong.").waitFor();
    await waitForFocus(page.getByLabel("Password"));
  }, 600_000);

  test.each([
    { screen: "join", first: "Your name" },
    { screen: "new-password", first: "Password" },
  ])(
    "a page with only a form focuses its first field: $screen",
    async ({ screen, first }) => {
      const page = await open(screen);
      await waitForFocus(page.getByLabel(first, { exact: true }));
    },
    600_000,
  );

  test("a rejected change focuses the reason", async () => {
    const page = await open("user-last-owner");
    await waitForFocus(page.getByRole("alert"));
  }, 600_000);

  test.each([{ link: "Rotate" }, { link: "Revoke" }])(
    "$link opens a dialog by Enter, which keeps the focus inside and returns it on Escape",
    async ({ link }) => {
      const page = await open("key");
      const opener = page.getByRole("link", { name: link, exact: true });
      if (!(await opener.isVisible())) await page.locator(".more-menu > summary").press("Enter");
      await opener.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: `${link} “Deploy pipeline”` });
      await dialog.waitFor();
      const stops = new Set<string>();
      for (let press = 0; press < 12; press++) {
        stops.add(await stopOf(page));
        await page.keyboard.press(press < 6 ? "Tab" : "Shift+Tab");
      }
      expect(stops).not.toContain("outside");
      expect([...stops].filter((stop) => stop.startsWith("inside")).length).toBeGreaterThan(2);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await waitForFocus(opener);
    },
    600_000,
  );

  test("Escape and a click outside close an open menu, and Escape returns the focus", async () => {
    const page = await open("webhook");
    const summary = page.locator(".more-menu > summary");
    const link = page.getByRole("link", { name: "Rotate secret", exact: true });
    await summary.press("Enter");
    await page.keyboard.press("Tab");
    await waitForFocus(link);
    await page.keyboard.press("Escape");
    await waitForFocus(summary);
    expect(await link.isVisible()).toBe(false);
    await summary.press("Enter");
    await link.waitFor();
    await page.getByRole("heading", { level: 1 }).click();
    expect(await link.isVisible()).toBe(false);
  }, 600_000);

  test("Escape closes a dialog and leaves the menu open that has opened the dialog", async () => {
    const page = await open("webhook");
    await page.locator(".more-menu > summary").press("Enter");
    const link = page.getByRole("link", { name: "Disable", exact: true });
    await link.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await waitForFocus(link);
    await page.keyboard.press("Escape");
    expect(await link.isVisible()).toBe(false);
  }, 600_000);

  test.each([{ screen: "account" }, { screen: "create" }])(
    "the tab bar of a phone covers no element that has the focus: $screen",
    async ({ screen }) => {
      const page = await open(screen);
      const window = page.viewportSize();
      await page.setViewportSize({ width: 390, height: 700 });
      const bar = await page.locator("#tabbar").boundingBox();
      const covered: string[] = [];
      for (let stop = 0; stop < STOPS_MAX; stop++) {
        await page.keyboard.press("Tab");
        const focus = page.locator("main :focus");
        const bounds = (await focus.count()) === 0 ? null : await focus.boundingBox();
        if (bounds && bar && bounds.y + bounds.height > bar.y) {
          covered.push(await focus.evaluate((element) => element.outerHTML));
        }
      }
      if (window) await page.setViewportSize(window);
      expect(bar).not.toBeNull();
      expect(covered).toEqual([]);
    },
    600_000,
  );

  test.each([
    { screen: "set-up-errors", first: "Your name" },
    { screen: "report-errors", first: "Name" },
    { screen: "incident-errors", first: "Message" },
    { screen: "plan-errors", first: "Name" },
    { screen: "page-create-errors", first: "Accent colour" },
    { screen: "create-errors", first: "Name" },
    { screen: "key-errors", first: "Name" },
    { screen: "invite-errors", first: "E-mail" },
    { screen: "general-errors", first: "Public address" },
    { screen: "account-errors", first: "New password" },
  ])(
    "a form with errors focuses the summary, which links to the fields: $screen",
    async ({ screen, first }) => {
      const page = await open(screen);
      const summary = page.getByRole("alert");
      await waitForFocus(summary);
      const link = summary.getByRole("link", { name: first, exact: true });
      await tabTo(page, link);
      await page.keyboard.press("Enter");
      const field = page.getByRole("main").getByLabel(first, { exact: true });
      await waitForFocus(field);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
    },
    600_000,
  );
});

/** Waits until it has the focus. */
async function waitForFocus(locator: Locator): Promise<void> {
  await locator.and(locator.page().locator(":focus")).waitFor({ state: "attached" });
}

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === document.activeElement);
}

/**
 * Returns the place of the focus while a dialog is open: inside it, outside it, or in the browser's
 * own controls after the last focusable element.
 */
function stopOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement, body } = document;
    if (!activeElement || activeElement === body) return "browser";
    return activeElement.closest("dialog") ? `inside ${activeElement.outerHTML}` : "outside";
  });
}

/** Presses Tab until it gets there. Throws where it never does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let stop = 0; stop < STOPS_MAX; stop++) {
    if (await isFocused(target)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never comes to ${target}`);
}
