import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { ImportResult } from "../../src/imports/jobs";
import { listStoredMonitors } from "../../src/features/monitors/declared";
import { describeWithBrowser } from "../support/browser";
import { openSite } from "../support/browser-site";
import { createTestClock, settle } from "../support/clock";
import { answerOf, HEALTHCHECKS, IMPORTS } from "../support/import-dashboard";
import { checkOf, UUIDS } from "../support/import-site";
import { createTestImports } from "../support/imports";
import { openScreen, turn } from "../support/live-screen";
import { send } from "../support/screens/screen";

const PHONE = { width: 390, height: 844 };
const [FIRST, SECOND] = UUIDS;

const FILE = answerOf(
  checkOf(FIRST, { name: "<b>Nightly</b> backup" }),
  checkOf(SECOND, { name: "Weekly report", grace: "soon" }),
);

async function choose(page: Page, content: string | Uint8Array = FILE): Promise<void> {
  const file = { name: "checks.json", mimeType: "application/json", buffer: Buffer.from(content) };
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
}

/** Returns how much wider than the window a page is, in pixels. */
const overflow = (page: Page) =>
  page.locator("html").evaluate((html) => html.scrollWidth - window.innerWidth);

describeWithBrowser("an import in a browser", (browser) => {
  test.each([
    ["with scripts", true, undefined],
    ["without scripts", false, undefined],
    ["without scripts on a phone", false, PHONE],
  ] as const)(
    "goes from the source to the report and the start, %s",
    async (_name, javaScriptEnabled, viewport) => {
      await using site = await openSite(browser());
      const session = await site.app.signedIn();
      const options = { session, javaScriptEnabled, ...(viewport && { viewport }) };
      const { page, errors } = await site.visit(IMPORTS, options);
      await page.getByRole("link", { name: "Import from Healthchecks" }).click();
      await choose(page);
      await page.getByLabel("Create everything paused").check();
      await Promise.all([page.waitForURL(/\/plans\//), press(page, "Show plan")]);
      expect(await page.getByText("Nothing was changed yet").isVisible()).toBe(true);
      expect(await page.getByText("<b>Nightly</b> backup").first().isVisible()).toBe(true);
      await page.locator("#import-verdicts").getByText("Held").click();
      await page.waitForURL(/verdict=held/);
      expect(await page.locator("tbody tr").count()).toBe(1);
      expect(listStoredMonitors(site.app.ctx.db)).toEqual([]);

      await Promise.all([page.waitForURL(/\/reports\/imp_/), press(page, "Import")]);
      await page.getByRole("link", { name: "<b>Nightly</b> backup" }).waitFor();
      await page.getByRole("link", { name: "Start 1 object" }).click();
      const start = page.getByRole("button", { name: "Start", exact: true });
      await start.waitFor();
      await Promise.all([page.waitForURL(/\/reports\/imp_[0-9a-z]+$/), start.click()]);
      await page.getByText("Started 1 monitor.").waitFor();
      const monitors = listStoredMonitors(site.app.ctx.db);
      expect(new Map(monitors.map(({ row }) => [row.name, row.paused]))).toEqual(
        new Map([
          ["<b>Nightly</b> backup", false],
          ["Weekly report", true],
        ]),
      );
      if (viewport) expect(await overflow(page)).toBe(0);
      expect(errors).toEqual([]);
    },
    600_000,
  );

  test("a file that is too large is refused before it is sent", async () => {
    await using site = await openSite(browser());
    const session = await site.app.signedIn();
    const { page } = await site.visit(HEALTHCHECKS, { session });
    await choose(page, new Uint8Array(768 * 1024 + 1));
    await page.getByText("The file is larger than 768 KiB. Select a smaller one.").waitFor();
  }, 600_000);

  test("the progress is refreshed, can be left and leads on; each state passes axe", async () => {
    const ended = Promise.withResolvers<ImportResult>();
    const begun = Promise.withResolvers<(text: string) => void>();
    const clock = createTestClock();
    let own: Disposable | undefined;
    await using site = await openSite(browser(), {
      clock,
      imports(ctx) {
        const created = createTestImports(ctx, (_request, progress) => {
          begun.resolve(progress);
          return ended.promise;
        });
        own = created;
        return created.imports;
      },
    });
    using _files = own;
    const session = await site.app.signedIn();
    const form = await site.visit(HEALTHCHECKS, { session });
    await choose(form.page);
    const sent = send(form.page, "Show plan");
    const report = await begun.promise;
    // The answer now waits for the plan.
    await settle();
    await clock.advance(10_000);
    await sent;
    const { page, errors } = await openScreen(site, new URL(form.page.url()).pathname, session);
    const check = async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await site.axe(page)).toEqual([]);
      }
      const size = page.viewportSize();
      await page.setViewportSize(PHONE);
      expect(await site.axe(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      if (size) await page.setViewportSize(size);
    };
    await page.getByText("The source is being read").waitFor();
    report("4,310,002 of ~10,000,000 beats");
    await turn(page);
    await page.getByText("4,310,002 of ~10,000,000 beats").waitFor();
    await check();
    // Left, and found again.
    await page.goto(new URL(IMPORTS, page.url()).href);
    await check();
    await page.getByRole("link", { name: "Show progress" }).click();
    await page.waitForURL(/\/plans\//);

    ended.resolve({ failure: { message: "“checks.json” cannot be read.", fields: [] } });
    await settle();
    await turn(page);
    await page.getByText("The import failed").waitFor();
    await check();
    await page.reload();
    await check();
    await page.getByRole("link", { name: "Try again" }).click();
    await page.waitForURL(/\/from\/healthchecks\?plan=/);
    expect(errors).toEqual([]);
  }, 600_000);
});

function press(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name, exact: true }).click();
}
