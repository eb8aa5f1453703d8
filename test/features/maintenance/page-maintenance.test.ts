import { describe, expect, test } from "bun:test";
import {
  listEndedMaintenance,
  listMaintenanceBetween,
  listMaintenanceForPage,
  nextEdge,
} from "../../../src/features/maintenance/records";
import { UPCOMING_MS } from "../../../src/features/maintenance/rules";
import { DAY_MS, HOUR_MS, toIso } from "../../../src/base/time";
import { TEST_START } from "../../support/clock";
import { createMaintenanceSite, type MaintenanceSite } from "../../support/maintenance-site";

/** Plans one from and until these hours after noon, and takes it through these statuses. */
async function plan(
  site: MaintenanceSite,
  name: string,
  [from, until]: [number, number],
  statuses: readonly string[] = [],
): Promise<void> {
  const id = await site.plan({
    name,
    scheduled_for: toIso(TEST_START + from * HOUR_MS),
    scheduled_until: toIso(TEST_START + until * HOUR_MS),
    auto_start: false,
  });
  for (const status of statuses) await site.update(id, { status, body: "On we go." });
}

function shown(site: MaintenanceSite, now: number): string[] {
  const span = { pageId: site.page.id, now, until: now + UPCOMING_MS };
  return listMaintenanceForPage(site.app.ctx.db, span).map(({ row }) => row.name);
}

describe("the maintenance on a page", () => {
  test("a page shows maintenance in progress, then that of the next 30 days, each by planned start", async () => {
    await using site = await createMaintenanceSite();
    const other = await site.app.page({ slug: "other" }, []);
    await site.plan({ page: other.page.id, name: "Elsewhere", components: [] });
    await plan(site, "In 30 days", [720, 721]);
    await plan(site, "Later still", [720.01, 721]);
    await plan(site, "Verifying", [2, 3], ["in_progress", "verifying"]);
    await plan(site, "In progress", [1, 3], ["in_progress"]);
    await plan(site, "Tomorrow", [24, 25]);
    await plan(site, "Overdue", [-1, 1]);
    await plan(site, "Never begun", [-2, -1]);
    await plan(site, "Completed", [1, 2], ["in_progress", "completed"]);
    await plan(site, "Cancelled", [1, 2], ["cancelled"]);
    expect(shown(site, TEST_START)).toEqual([
      "In progress",
      "Verifying",
      "Overdue",
      "Tomorrow",
      "In 30 days",
    ]);
  });

  test("a page shows at most a hundred maintenances, with components and updates", async () => {
    await using site = await createMaintenanceSite();
    for (let n = 0; n < 101; n++) await plan(site, `M${n}`, [1 + n, 200]);
    const { db } = site.app.ctx;
    const span = { pageId: site.page.id, now: TEST_START, until: TEST_START + UPCOMING_MS };
    const records = listMaintenanceForPage(db, span);
    expect(records).toHaveLength(100);
    expect(records[0]).toMatchObject({
      row: { name: "M0" },
      page: { slug: "acme" },
      components: [{ id: site.ids["API"], name: "API" }],
      updates: [{ body: "A minute without search." }],
    });
  });

  test("nextEdge returns the next time at which a page's maintenance changes", async () => {
    await using site = await createMaintenanceSite();
    await plan(site, "Far", [31 * 24, 32 * 24]);
    await plan(site, "Near", [5, 6]);
    const { db } = site.app.ctx;
    const edges: [string, string[]][] = [];
    for (let now: number | undefined = TEST_START; now !== undefined;) {
      edges.push([toIso(now), shown(site, now)]);
      now = nextEdge(db, { pageId: site.page.id, now });
      if (now !== undefined) expect(shown(site, now - 1)).toEqual(edges.at(-1)?.[1] ?? []);
    }
    expect(edges).toEqual([
      ["2026-03-10T12:00:00.000Z", ["Near"]],
      ["2026-03-10T17:00:00.000Z", ["Near"]],
      ["2026-03-10T18:00:00.000Z", []],
      ["2026-03-11T12:00:00.000Z", ["Far"]],
      ["2026-04-10T12:00:00.000Z", ["Far"]],
      ["2026-04-11T12:00:00.000Z", []],
    ]);
  });

  describe("past maintenance on a page", () => {
    /** Completed and under way since the start, broken off an hour later; one was cancelled before. */
    async function createSite() {
      const site = await createMaintenanceSite();
      await plan(site, "Completed", [1, 2], ["in_progress", "completed"]);
      await plan(site, "Cancelled before", [1, 2], ["cancelled"]);
      await site.clock.advance(1);
      await plan(site, "Under way", [1, 2], ["in_progress"]);
      await site.clock.advance(HOUR_MS);
      await plan(site, "Broken off", [1, 2], ["in_progress", "cancelled"]);
      return site;
    }
    const names = (of: readonly { name: string }[]) => of.map(({ name }) => name);

    test("listMaintenanceBetween returns maintenance that started in a span, newest start first", async () => {
      await using site = await createSite();
      const begun = (from: number, to: number, more: object = {}) =>
        names(
          listMaintenanceBetween(site.app.ctx.db, {
            pageId: site.page.id,
            from,
            to,
            before: { at: to, id: "" },
            limit: 10,
            ...more,
          }),
        );
      const [from, to] = [TEST_START, TEST_START + DAY_MS];
      expect(begun(from, to)).toEqual(["Broken off", "Under way", "Completed"]);
      expect(begun(from, TEST_START + HOUR_MS)).toEqual(["Under way", "Completed"]);
      expect(begun(TEST_START + 1, TEST_START + 2)).toEqual(["Under way"]);
      expect(begun(from, to, { limit: 2 })).toEqual(["Broken off", "Under way"]);
      expect(begun(from, to, { before: { at: TEST_START + 1, id: "" } })).toEqual(["Completed"]);
    });

    test("listEndedMaintenance returns maintenance that ended since a time, with its end", async () => {
      await using site = await createSite();
      const over = (since: number, limit = 10) =>
        listEndedMaintenance(site.app.ctx.db, {
          pageId: site.page.id,
          from: TEST_START - DAY_MS,
          since,
          limit,
        });
      expect(over(TEST_START).map(({ name, endedAt }) => [name, endedAt])).toEqual([
        ["Broken off", TEST_START + HOUR_MS + 1],
        ["Completed", TEST_START],
      ]);
      expect(names(over(TEST_START + 1))).toEqual(["Broken off"]);
      expect(names(over(TEST_START, 1))).toEqual(["Broken off"]);
    });
  });

  test("nextEdge returns undefined if nothing is planned", async () => {
    await using site = await createMaintenanceSite();
    await plan(site, "Completed", [1, 2], ["in_progress", "completed"]);
    await plan(site, "Cancelled", [1, 2], ["cancelled"]);
    const { db } = site.app.ctx;
    expect(nextEdge(db, { pageId: site.page.id, now: TEST_START })).toBeUndefined();
  });
});
