import { expect, test } from "bun:test";
import { listIncidents } from "../../src/features/incidents/records";
import { listMaintenance } from "../../src/features/maintenance/records";
import { describeInBrowser } from "../support/browser";

const WAYS = [
  { name: "with a script", javaScriptEnabled: true },
  { name: "without one", javaScriptEnabled: false },
];

describeInBrowser("the Enter key in forms", (site) => {
  test.each(WAYS)(
    "Enter publishes an incident although the form has other buttons: $name",
    async ({ javaScriptEnabled }) => {
      const { app, visit } = site();
      const { session, slugs } = await withTwoPages(app);
      const path = `/admin/incidents/new?page=${slugs[1]}`;
      const { page } = await visit(path, { session, javaScriptEnabled });
      await page.getByLabel("First message").fill("We look into it.");
      await page.getByLabel("Name").fill(`Errors on ${slugs[1]}`);
      await page.keyboard.press("Enter");
      await page.getByText("The incident was published.").waitFor();
      const made = listIncidents(app.ctx.db, { search: `Errors on ${slugs[1]}`, limit: 2 });
      expect(made.map(({ row }) => [row.status, row.draft])).toEqual([["investigating", false]]);
      await page.context().close();
    },
    600_000,
  );

  test.each(WAYS)(
    "Enter plans a maintenance although the form has other buttons: $name",
    async ({ javaScriptEnabled }) => {
      const { app, visit } = site();
      const { session, slugs } = await withTwoPages(app);
      const path = `/admin/maintenance/new?page=${slugs[0]}`;
      const { page } = await visit(path, { session, javaScriptEnabled });
      await page.getByLabel("Starts at (UTC)").fill("2030-01-10T02:00");
      await page.getByLabel("Message").fill("A minute without search.");
      await page.getByLabel("Name").fill(`Upgrade of ${slugs[0]}`);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: `Upgrade of ${slugs[0]}` }).waitFor();
      const names = listMaintenance(app.ctx.db, { limit: 9 }).map(({ row }) => row.name);
      expect(names.filter((name) => name === `Upgrade of ${slugs[0]}`)).toHaveLength(1);
      await page.context().close();
    },
    600_000,
  );

  test("Enter on the status of an update publishes it instead of applying a template", async () => {
    const { app, visit } = site();
    const { session, slugs } = await withTwoPages(app);
    const { page } = await visit(`/admin/incidents/new?page=${slugs[0]}`, { session });
    await page.getByLabel("First message").fill("We look into it.");
    await page.getByLabel("Name").fill("Errors");
    await page.keyboard.press("Enter");
    await page.getByText("The incident was published.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("It was the disk.");
    await page.getByRole("radio", { name: "Resolved" }).check();
    await page.keyboard.press("Enter");
    await page.getByText("The incident is resolved.").waitFor();
    await page.context().close();
  }, 600_000);

  test("the button for Enter is not reachable by keyboard or screen reader", async () => {
    const { app, visit } = site();
    const { session } = await withTwoPages(app);
    const { page } = await visit("/admin/incidents/new", { session, javaScriptEnabled: false });
    const buttons = await page.getByRole("button").allInnerTexts();
    expect(buttons).toContain("Show components");
    expect(buttons).not.toContain("");
    await page.locator("main select").first().focus();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Show components");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("A");
    await page.context().close();
  }, 600_000);
});

describeInBrowser("the page of a form", (site) => {
  test("choosing another page shows its components at once and keeps what was typed", async () => {
    const { app, visit } = site();
    const { session, slugs } = await withTwoPages(app);
    const { page } = await visit(`/admin/incidents/new?page=${slugs[0]}`, { session });
    await page.getByLabel("Name", { exact: true }).fill("Errors");
    expect(await page.getByRole("button", { name: "Show components" }).isVisible()).toBe(false);
    const shown = await page.locator("input[name=shown_page]").inputValue();
    await page.getByLabel("Page", { exact: true }).selectOption({ label: slugs[1] ?? "" });
    await page
      .locator(`input[name=shown_page]:not([value="${shown}"])`)
      .waitFor({ state: "attached" });
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Errors");
    await page.context().close();
  }, 600_000);
});

type Site = Parameters<Parameters<typeof describeInBrowser>[1]>[0];

async function withTwoPages(app: ReturnType<Site>["app"]) {
  const slugs = [0, 1].map(() => `page-${crypto.randomUUID().slice(0, 8)}`);
  for (const slug of slugs) await app.page({ slug, name: slug });
  return { session: await app.signedIn("editor"), slugs };
}
