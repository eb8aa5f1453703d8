import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { deleteComponent } from "../../../src/features/components/components";
import { forVisitors } from "../../../src/features/reports/report";
import { METHODS } from "../../../src/features/analytics/wire";
import { createComponent, updateComponent } from "../../support/examined";
import { readHtml } from "../../support/html";
import { createReportSite, MONTH, MONTH_START, type ReportSite } from "../../support/report-site";

const END = MONTH_START + 31 * DAY_MS;

/** API is down for three hours, and partly down for ten across the end of the month. */
async function withOutages(): Promise<ReportSite> {
  const site = await createReportSite();
  const start = MONTH_START + 5 * DAY_MS;
  await site.incident({ name: "API is <down>", from: start, to: start + 3 * HOUR_MS });
  const late = { from: END - 4 * HOUR_MS, to: END + 6 * HOUR_MS, status: "partial_outage" };
  await site.incident({ name: "Slow logins", ...late });
  site.app.clock.setWallClock(END + DAY_MS);
  return site;
}

describe("the report of a month", () => {
  test("has uptime, times and days of each component as analytics count them, against their goals", async () => {
    await using site = await withOutages();
    await site.updateComponent("API", { uptime_goal: 99.9 });
    await site.updateComponent("Website", { uptime_goal: 100 });
    const report = await site.read();
    const [api, website] = report.components;
    const { body } = await site.api(
      `analytics/uptime?page=acme&from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z`,
    );
    expect(api?.figures).toEqual(expect.objectContaining({ uptime: body.data[0].uptime }));
    expect(api?.figures).toMatchObject({
      major_outage_ms: 3 * HOUR_MS,
      partial_outage_ms: 4 * HOUR_MS,
      down_ms: 4.2 * HOUR_MS,
      no_data_ms: 0,
    });
    expect(report.total).toEqual(body.total);
    expect([api?.isMet, website?.isMet]).toEqual([false, true]);
    expect(api?.days).toHaveLength(31);
    expect(api?.days.filter(({ time }) => time.major_outage > 0)).toHaveLength(1);
  });

  test("lists what was open in the month with the time that lies in it, newest first", async () => {
    await using site = await withOutages();
    const { incidents } = await site.read();
    expect(incidents.map(({ name, lasted }) => [name, lasted])).toEqual([
      ["Slow logins", 4 * HOUR_MS],
      ["API is <down>", 3 * HOUR_MS],
    ]);
    const next = await site.read("2026-04");
    expect(next.incidents.map(({ name, lasted }) => [name, lasted])).toEqual([
      ["Slow logins", 6 * HOUR_MS],
    ]);
    expect((await site.read("2026-02")).incidents).toEqual([]);
  });

  test("lists maintenance that took place, and counts its time apart", async () => {
    await using site = await createReportSite();
    const { clock } = site.app;
    const key = await site.app.keyWith("write:maintenance");
    const [from, to] = [MONTH_START + 2 * HOUR_MS, MONTH_START + 4 * HOUR_MS];
    const plan = (name: string) =>
      site.app.call("/api/v1/maintenance", {
        method: "POST",
        key,
        json: {
          page: "acme",
          name,
          body: "x",
          scheduled_for: new Date(from).toISOString(),
          scheduled_until: new Date(to).toISOString(),
          components: [site.components["Website"]],
          auto_start: false,
          auto_complete: false,
        },
      });
    const done = (await plan("Disks")).body;
    await plan("Never begun");
    const update = (status: string) =>
      site.app.call(`/api/v1/maintenance/${done.id}/updates`, {
        method: "POST",
        key,
        json: { status, body: "x" },
      });
    clock.setWallClock(from);
    expect((await update("in_progress")).status).toBe(201);
    clock.setWallClock(to);
    expect((await update("completed")).status).toBe(201);
    clock.setWallClock(END + DAY_MS);
    const report = await site.read();
    expect(report.maintenance.map(({ name, lasted }) => [name, lasted])).toEqual([
      ["Disks", 2 * HOUR_MS],
    ]);
    expect(report.components[1]?.figures.maintenance_ms).toBe(2 * HOUR_MS);
  });

  test("of the present month goes up to now, and a month before anything was known has none", async () => {
    await using site = await createReportSite();
    site.app.clock.setWallClock(MONTH_START + 10 * DAY_MS + MINUTE_MS);
    const report = await site.read();
    expect([report.isOver, report.until]).toEqual([false, MONTH_START + 10 * DAY_MS + MINUTE_MS]);
    expect(report.components[0]?.days).toHaveLength(11);
    expect([report.month.previous, report.month.next]).toEqual(["2026-02", undefined]);
    expect((await site.read("2026-02")).month.previous).toBeUndefined();
    for (const month of ["2026-01", "2026-04"]) {
      expect(() => site.read(month)).toThrow("There is no such report.");
    }
    // The first millisecond of a month has no time at all.
    site.app.clock.setWallClock(END);
    const empty = await site.read("2026-04");
    expect(empty.total).toMatchObject({ uptime: null, no_data_ms: 0 });
  });

  test("its digest changes with a corrected incident and a goal, and not with time, names or another month", async () => {
    await using site = await withOutages();
    const { digest } = await site.read();
    site.app.clock.setWallClock(END + 20 * DAY_MS);
    await site.updateComponent("API", { name: "Interface" });
    await site.incident({ name: "April", from: END + 21 * DAY_MS, to: null });
    expect((await site.read()).digest).toBe(digest);
    await site.updateComponent("API", { uptime_goal: 99 });
    const withGoal = (await site.read()).digest;
    expect(withGoal).not.toBe(digest);
    const [slow] = (await site.read()).incidents;
    await site.deleteIncident(slow?.id ?? "");
    expect((await site.read()).digest).not.toBe(withGoal);
  });

  test("its digest stays with a component that is added or moved, and changes with one that is removed", async () => {
    await using site = await withOutages();
    const { ctx } = site.app;
    const { digest } = await site.read();
    const { page, components } = site;
    const last = { groupId: null, position: 99_000, managedBy: null };
    await ctx.db.write((tx) =>
      createComponent(ctx, tx, page, { ref: "new", name: "New" }, last, CLI_ACTOR),
    );
    await ctx.db.write((tx) =>
      updateComponent(ctx, tx, components["API"] ?? "", {}, CLI_ACTOR, { position: 98_000 }),
    );
    const names = (await site.read()).components.map(({ row }) => row.name);
    expect(names).toEqual(["New", "Website", "API"]);
    expect((await site.read()).digest).toBe(digest);
    await ctx.db.write((tx) => deleteComponent(ctx, tx, components["Website"] ?? "", CLI_ACTOR));
    expect((await site.read()).digest).not.toBe(digest);
  });

  test("for visitors leaves out what the page hides, also from the total", async () => {
    await using site = await withOutages();
    await site.updateComponent("API", { showcase: false });
    const hidden = forVisitors(await site.read());
    expect(hidden.components.map(({ row }) => row.name)).toEqual(["Website"]);
    expect(hidden.total.uptime).toBe(1);
    await site.updateComponent("API", { showcase: true, only_show_if_degraded: true });
    await site.updateComponent("Website", { only_show_if_degraded: true });
    const troubled = forVisitors(await site.read());
    expect(troubled.components.map(({ row }) => row.name)).toEqual(["API"]);
    expect(troubled.total).toEqual(troubled.components[0]?.figures as never);
  });
});

describe("Analytics → Report", () => {
  const PATH = "/admin/analytics/report";

  test("says of which list it left out older entries", async () => {
    await using site = await createReportSite();
    const { clock } = site.app;
    for (let index = 0; index < 201; index++) {
      const from = MONTH_START + index * HOUR_MS;
      await site.incident({ name: `No. ${index}`, from, to: from + MINUTE_MS });
    }
    const at = MONTH_START + 300 * HOUR_MS;
    const key = await site.app.keyWith("write:maintenance");
    clock.setWallClock(at);
    const json = {
      page: "acme",
      name: "Disks",
      body: "x",
      scheduled_for: new Date(at + MINUTE_MS).toISOString(),
      scheduled_until: new Date(at + HOUR_MS).toISOString(),
      components: [site.components["Website"]],
      auto_start: false,
    };
    const { body } = await site.app.call("/api/v1/maintenance", { method: "POST", key, json });
    clock.setWallClock(at + MINUTE_MS);
    await site.app.call(`/api/v1/maintenance/${body.id}/updates`, {
      method: "POST",
      key,
      json: { status: "in_progress", body: "x" },
    });
    clock.setWallClock(END + DAY_MS);
    const session = await site.app.signedIn("viewer");
    const page = readHtml((await site.app.call(PATH, { session })).text);
    expect(page.texts(".report-figures dd").slice(1, 3)).toEqual(["200+", "1"]);
  });

  test("shows a missed goal with all of its digits", async () => {
    await using site = await withOutages();
    await site.updateComponent("API", { uptime_goal: 99.99999 });
    const session = await site.app.signedIn("viewer");
    const page = readHtml((await site.app.call(PATH, { session })).text);
    expect(page.texts(".report-table tbody tr")[0]).toContain("99.99999 %");
  });

  test("shows the last month with its figures, its method and links to CSV and the addresses for programs", async () => {
    await using site = await withOutages();
    await site.updateComponent("API", { uptime_goal: 99.9 });
    const session = await site.app.signedIn("viewer");
    const page = readHtml((await site.app.call(PATH, { session })).text);
    expect(page.texts("h2")[0]).toBe("Acme, March 2026");
    const api = page.texts(".report-table tbody tr")[0];
    for (const part of ["API", "99.43 %", "99.9 %", "Missed", "3 h", "4 h"])
      expect(api).toContain(part);
    expect(page.texts(".report-table tbody th a")).toContain("API is <down>");
    expect(page.texts("p.muted").join()).toContain(METHODS.uptimeOfComponents);
    const [csv = ""] = page.attributes("a.button[href*='.csv']", "href");
    const file = await site.app.call(csv, { session });
    expect(file.headers.get("content-disposition")).toContain(`uptime-acme-${MONTH}.csv`);
    expect(file.text).toContain("2026-03-01T00:00:00.000Z,2026-04-01T00:00:00.000Z");
    const [uptime = ""] = page.texts("code");
    expect(
      (await site.app.call(uptime, { key: await site.app.keyWith("read:analytics") })).status,
    ).toBe(200);
  });

  test("opens other months by their names, and another month for a name without a report", async () => {
    await using site = await withOutages();
    const session = await site.app.signedIn("viewer");
    const titleOf = async (query: string) =>
      readHtml((await site.app.call(PATH + query, { session })).text).texts("h2")[0];
    expect(await titleOf("?month=2026-02")).toBe("Acme, February 2026");
    expect(await titleOf("?month=2026-04")).toBe("Acme, April 2026");
    for (const month of ["2026-01", "2026-05", "x", "2026-13"]) {
      expect(await titleOf(`?month=${month}`)).toBe("Acme, March 2026");
    }
  });
});
