import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import { listComponentsOfPage } from "../../src/features/components/store";
import { findPageBySlug } from "../../src/features/pages/store";
import { updateComponent, updatePage } from "../support/examined";
import { SMALL } from "../support/screen-tour";
import { describeScreens } from "../support/test-screens";

const PUBLIC = "/status/northwind/report/2026-02";
const DASHBOARD = "/admin/analytics/report?page=northwind&month=2026-02";

/** Folder in which pictures and printed reports are kept for people to look at; none by default. */
const KEPT_IN = process.env["REPORT_PICTURES"];

/** Size of A4 in points. */
const A4 = [595, 842];

/** Returns the sizes of the pages of a PDF in whole points. */
function pageSizes(pdf: Buffer): number[][] {
  const text = pdf.toString("latin1");
  return [...text.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, width, height]) => [
    Math.round(Number(width)),
    Math.round(Number(height)),
  ]);
}

/** Returns elements of the report whose content is wider than they are. */
function cutElements(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("main, .report .card, .report-table :is(th, td)")]
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .map((element) => `${element.className} ${element.textContent?.slice(0, 40)}`),
  );
}

describeScreens("monthly reports", (_tour, demoSites) => {
  async function open(path: string, options: object = {}) {
    const { app, sessions, visit } = demoSites().demoData;
    const { ctx } = app;
    const northwind = findPageBySlug(ctx.db, { slug: "northwind" });
    if (northwind?.report !== "public") {
      await ctx.db.write((tx) => {
        updatePage(
          ctx,
          tx,
          northwind?.id ?? "",
          { report: "public", languages: ["de"] },
          CLI_ACTOR,
        );
        for (const { id } of listComponentsOfPage(tx, { pageId: northwind?.id ?? "" })) {
          updateComponent(ctx, tx, id, { uptime_goal: 99.95 }, CLI_ACTOR);
        }
      });
    }
    // Without the transitions of a change of the theme.
    const still = { reducedMotion: "reduce" as const, ...options };
    return visit(path, path.startsWith("/admin") ? { session: sessions.viewer, ...still } : still);
  }

  async function keep(name: string, page: Page, pdf?: Buffer): Promise<void> {
    if (KEPT_IN === undefined) return;
    if (pdf) await Bun.write(`${KEPT_IN}/${name}.pdf`, pdf);
    else await page.screenshot({ path: `${KEPT_IN}/${name}.png`, fullPage: true });
  }

  test.each([
    ["for visitors", "public", PUBLIC],
    ["in another language", "german", `${PUBLIC}?lang=de`],
    ["of the dashboard", "dashboard", DASHBOARD],
  ])(
    "a report %s is printed on A4 as it is shown: whole, in its columns, and without what is for the screen",
    async (_what, name, path) => {
      const { page, errors } = await open(path, { colorScheme: "dark" });
      const pdf = await page.pdf({ format: "A4", printBackground: true });
      const sizes = pageSizes(pdf);
      expect(sizes.length).toBeGreaterThan(0);
      expect(sizes.length).toBeLessThanOrEqual(4);
      for (const [width = 0, height = 0] of sizes) {
        expect(Math.abs(width - (A4[0] ?? 0)) + Math.abs(height - (A4[1] ?? 0))).toBeLessThan(3);
      }
      await keep(name, page, pdf);
      // The width of the sheet without its margins, in CSS pixels.
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await page.setViewportSize({ width: 703, height: 1_000 });
      expect(await page.locator(".report-table thead").first().isVisible()).toBe(true);
      expect(await cutElements(page)).toEqual([]);
      for (const hidden of [
        ".top nav a",
        ".months a",
        ".side",
        ".tabs",
        ".actions",
        ".not-printed",
      ]) {
        const visible = await page.locator(hidden).filter({ visible: true }).count();
        expect([hidden, visible]).toEqual([hidden, 0]);
      }
      expect(errors).toEqual([]);
    },
    600_000,
  );

  test.each([
    ["public", PUBLIC],
    ["german", `${PUBLIC}?lang=de`],
    ["dashboard", DASHBOARD],
  ])(
    "a report has no axe violations in both themes, and fits wide and small windows: %s",
    async (name, path) => {
      const { axe } = demoSites().demoData;
      const { page, errors } = await open(path, { viewport: { width: 1_280, height: 900 } });
      expect(await axe(page)).toEqual([]);
      expect(await cutElements(page)).toEqual([]);
      await keep(`${name}-wide`, page);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await axe(page, "only")).toEqual([]);
      await keep(`${name}-dark`, page);
      await page.emulateMedia({ colorScheme: "light" });
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ ...SMALL, height: Math.max(SMALL.height, height) });
      expect(await axe(page, "none")).toEqual([]);
      expect(await cutElements(page)).toEqual([]);
      await keep(`${name}-phone`, page);
      expect(errors).toEqual([]);
    },
    600_000,
  );
});
