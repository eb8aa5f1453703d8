import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { insertSpan } from "../../../../src/features/monitors/spans-store";
import { saveCertificate } from "../../../../src/features/monitors/store";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { expectProblem } from "../../../support/app";
import { readHtml } from "../../../support/html";
import {
  createMonitorDashboard,
  type MonitorDashboard,
  MONITORS,
} from "../../../support/monitor-dashboard";
import { createWebhook } from "../../../support/examined";

/** The figures of a screen by their labels. */
function figuresOn(html: string): Record<string, string> {
  const page = readHtml(html);
  const values = page.texts(".number-value");
  return Object.fromEntries(
    page.texts(".key-numbers dt").map((label, index) => [label, values[index] ?? ""]),
  );
}

/** A monitor of the component API that is two days old and was down for 36 minutes, 10 hours ago. */
async function withOutage(dashboard: MonitorDashboard) {
  const { app, site } = dashboard;
  const now = app.clock.now() + 2 * DAY_MS;
  const id = await dashboard.make({
    name: "Shop",
    component_ids: [site.components["API"] ?? ""],
    open_incident: "automatic",
  });
  await dashboard.applyTransition(id, "up", app.clock.now());
  await app.clock.advance(2 * DAY_MS - 10 * HOUR_MS);
  await dashboard.applyTransition(id, "down", now - 10 * HOUR_MS, "Refused.");
  await app.clock.advance(36 * MINUTE_MS);
  await dashboard.applyTransition(id, "up", now - 10 * HOUR_MS + 36 * MINUTE_MS);
  await app.clock.advance(10 * HOUR_MS - 36 * MINUTE_MS);
  return { id, now, session: await app.signedIn("viewer") };
}

describe("the screen of a monitor", () => {
  test("the screen of a monitor shows state, uptime, outages and the incident that it opened", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app } = dashboard;
    const { id, session } = await withOutage(dashboard);
    const answer = await app.call(`${MONITORS}/${id}`, { session });
    const page = readHtml(answer.text);
    const figures = figuresOn(answer.text);
    expect(page.texts("#monitor-state")[0]).toStartWith("Up for 9 h 24 min");
    // 36 minutes of 24 hours.
    expect(figures["Uptime"]).toBe("97.500 %");
    expect(page.texts("#monitor-figures .number-note")).toContain("36 min down");
    expect(figures["Outages"]).toBe("1");
    expect(page.texts("table caption")).toContain("Outages and slow times, last 24 hours");
    const outage = page.texts("tbody tr").find((row) => row.includes("Refused."));
    expect(outage).toBe("DownRefused.10 h ago36 minAPI is partly unavailable");
    expect(page.texts("#monitor-outages a")).toEqual(["10 h ago", "API is partly unavailable"]);
    expect(page.texts("#monitor-incidents a")).toEqual(["API is partly unavailable"]);
    expect(page.texts("#monitor-components a")).toEqual(["API"]);
    expect(page.texts("#monitor-chart .chart-legend li")).toContain("Outage");
    expect(page.texts("#monitor-chart .chart-legend li")).toContain("Incident opened");
    expect(page.attributes("#monitor-chart .time-plot .time-mark", "d")).toHaveLength(1);
    expect(page.attributes("#monitor-chart .time-cap", "d")).toHaveLength(1);
  });

  test("the screen of a monitor shows the figures of the chosen range, by default of 24 hours", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app } = dashboard;
    const { id, session } = await withOutage(dashboard);
    const uptime = async (query: string) =>
      figuresOn((await app.call(`${MONITORS}/${id}${query}`, { session })).text)["Uptime"];
    // 36 minutes of the 2 days that it is known.
    expect(await uptime("?range=7d")).toBe("98.750 %");
    expect(await uptime("?range=90d")).toBe("98.750 %");
    expect(await uptime("?range=nonsense")).toBe("97.500 %");
    const page = readHtml((await app.call(`${MONITORS}/${id}?range=30d`, { session })).text);
    expect(page.texts(".tabs [aria-current]")).toEqual(["30 days"]);
    expect(page.texts(".time-ticks text")).toEqual([
      "16 Feb",
      "21 Feb",
      "26 Feb",
      "3 Mar",
      "8 Mar",
    ]);
  });

  test.each(["?range=24h", "?range=7d", "?range=30d"])(
    "the screen of a monitor shows %s to a user of another time zone at any millisecond",
    async (query) => {
      await using dashboard = await createMonitorDashboard("viewer");
      const { app } = dashboard;
      const { id, session } = await withOutage(dashboard);
      const form = { time_zone: "Asia/Kathmandu" };
      await app.call("/admin/settings/account/time-zone", { session, form });
      await app.clock.advance(13);
      const answer = await app.call(`${MONITORS}/${id}${query}`, { session });
      expect(answer.status).toBe(200);
      expect(readHtml(answer.text).texts(".time-ticks text").length).toBeGreaterThan(1);
    },
  );

  test("the response times of a monitor are drawn and listed as median and 95th percentile per step", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app } = dashboard;
    const id = await dashboard.make();
    const now = app.clock.now() + DAY_MS;
    await app.clock.advance(DAY_MS);
    const step = 30 * MINUTE_MS;
    const first = Array.from(
      { length: 20 },
      (_, i) => [now - 2 * step + i, i < 18 ? 100 : 900] as const,
    );
    await dashboard.record(id, ...first, [now - step + 1, null], [now - step + 2, 300]);
    const session = await app.signedIn("viewer");
    const { text } = await app.call(`${MONITORS}/${id}`, { session });
    const page = readHtml(text);
    const rows = page.texts(".day-table tbody tr");
    expect(rows).toHaveLength(48);
    const day = "11 Mar 2026";
    expect(rows[0]).toBe(`${day}, 11:30–12:00 UTC300 ms300 ms1 of 2`);
    expect(rows[2]).toBe(`${day}, 10:30–11:00 UTC–––`);
    // Right to within 2 %.
    const [, median, slow] = /UTC([\d.]+) ms([\d.]+) ms–$/.exec(rows[1] ?? "") ?? [];
    expect(Math.abs(Number(median) - 100)).toBeLessThanOrEqual(2);
    expect(Math.abs(Number(slow) - 900)).toBeLessThanOrEqual(18);
    expect(page.texts("svg title").at(-1)).toBe(
      `${day}, 11:30–12:00 UTC: Median 300 ms, 95th percentile 300 ms, Failed checks 1 of 2`,
    );
    expect(page.attributes("svg[role=group]", "aria-label")).toEqual(["Response time"]);
    expect(figuresOn(text)).toMatchObject({ "Failed checks": "1" });
    // Figures of zero are left out.
    expect(Object.keys(figuresOn(text))).not.toContain("Outages");
    expect(page.texts("#monitor-figures .number-note")).toContain("of 22");
    expect(page.texts(".time-labels span")).toHaveLength(5);
    // The half hour before both has no result, so nothing is drawn there.
    expect(page.attributes(".time-line", "d").at(-1)?.match(/M/g)).toHaveLength(1);
  });

  test("a link on an outage zooms into it, with a way back, and actions keep the part that is shown", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const { id } = await withOutage(dashboard);
    const session = await app.signedIn("admin");
    const open = async (path: string) => readHtml((await app.call(path, { session })).text);
    const week = await open(`${MONITORS}/${id}?range=7d`);
    const [zoom = ""] = week.attributes("#monitor-outages td.line a", "href");
    // From 36 minutes before the outage to 36 minutes after it.
    const times = "from=2026-03-12T01%3A24%3A00.000Z&to=2026-03-12T03%3A12%3A00.000Z";
    expect(zoom).toBe(`${MONITORS}/${id}?range=7d&${times}`);
    const page = await open(zoom);
    expect(page.texts(".detail-zoom")).toEqual(["12 Mar 2026, 01:24–03:12 UTC · Back to 7 days"]);
    expect(page.attributes(".detail-zoom a", "href")).toEqual([`${MONITORS}/${id}?range=7d`]);
    expect(page.texts("#monitor-chart .tabs [aria-current]")).toEqual([]);
    expect(page.texts(".day-table tbody tr")).toHaveLength(23);
    expect(page.texts("#monitor-figures .number-value")).toContain("66.666 %");
    const [check = ""] = page.attributes(".screen-head form", "action");
    expect(check).toBe(`${MONITORS}/${id}/check?range=7d&${times}`);
    const answer = await app.call(check, { session, form: {} });
    expect(answer.headers.get("location")).toBe(zoom);
  });

  test("the points of the chart are not shorter than the check interval, but at least two remain", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const rowsOf = async (interval: number, range: string) => {
      const id = await dashboard.make({ interval_seconds: interval });
      await dashboard.record(id, [dashboard.app.clock.now(), 5]);
      await dashboard.app.clock.advance(1);
      const { text } = await dashboard.open(`${MONITORS}/${id}?range=${range}`);
      return readHtml(text).texts(".day-table tbody tr").length;
    };
    expect(await rowsOf(60, "1h")).toBe(60);
    expect(await rowsOf(300, "1h")).toBe(12);
    expect(await rowsOf(3_600, "24h")).toBe(12);
    expect(await rowsOf(86_400, "24h")).toBe(2);
    expect(await rowsOf(86_400, "7d")).toBe(7);
    expect(await rowsOf(86_400, "1y")).toBe(73);
  });

  test("a part of the history that is invalid, too short, too long or in the future is not zoomed into", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    const part = (from: string, to: string) => `from=${from}&to=${to}`;
    const hour = "2026-03-10T10:00:00Z";
    for (const query of [
      part("nonsense", "nonsense"),
      part(hour, ""),
      part(hour, hour),
      part(hour, "2026-03-10T10:01:00Z"),
      part(hour, "2026-03-10T09:00:00Z"),
      part("2024-03-10T10:00:00Z", hour),
      part("2027-03-10T10:00:00Z", "2027-03-10T11:00:00Z"),
    ]) {
      const page = readHtml((await dashboard.open(`${MONITORS}/${id}?${query}`)).text);
      expect(page.texts(".detail-zoom"), query).toEqual([]);
      expect(page.texts("#monitor-chart .tabs [aria-current]"), query).toEqual(["24 hours"]);
    }
    const old = part("2025-04-10T10:00:00Z", "2025-04-10T12:00:00Z");
    const { text } = await dashboard.open(`${MONITORS}/${id}?${old}`);
    expect(readHtml(text).texts(".detail-zoom")[0]).toStartWith("10 Apr 2025, 10:00–12:00 UTC");
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  test("slow times are listed with the outages, and open no incident", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make();
    const now = app.clock.now();
    await app.clock.advance(HOUR_MS);
    await dashboard.applyTransition(id, "degraded", now, "Slower than 2 s.");
    await dashboard.applyTransition(id, "up", now + 20 * MINUTE_MS);
    const session = await app.signedIn("admin");
    const page = readHtml((await app.call(`${MONITORS}/${id}`, { session })).text);
    expect(page.texts("#monitor-outages tbody tr")).toEqual([
      "SlowSlower than 2 s.1 h ago20 minNone",
    ]);
    expect(page.texts("#monitor-figures dt")).toEqual(["Now", "Uptime"]);
  });

  test("a monitor with too many changes of state shows the newest, and no uptime of a part", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const now = app.clock.now();
    const start = now - 10_101 * MINUTE_MS;
    app.clock.setWallClock(start);
    const id = await dashboard.make();
    const { num: monitorNum } = dashboard.stored(id).row;
    await app.ctx.db.write((tx) => {
      for (let i = 1; i <= 10_100; i++) {
        const startedAt = start + i * MINUTE_MS;
        const state = i % 2 === 0 ? "up" : "down";
        insertSpan(tx, {
          monitorNum,
          startedAt,
          endedAt: startedAt + MINUTE_MS,
          state,
          message: null,
        });
      }
    });
    app.clock.setWallClock(now);
    const { text } = await dashboard.open(`${MONITORS}/${id}?range=30d`);
    expect(figuresOn(text)).toMatchObject({ Uptime: "–", Outages: "5,000 or more" });
    expect(readHtml(text).texts("#monitor-outages")[0]).toEndWith(
      "Many earlier entries are not listed.",
    );
    const day = await dashboard.open(`${MONITORS}/${id}`);
    expect(figuresOn(day.text)).toMatchObject({ Uptime: "50.000 %", Outages: "720" });
  });

  test("the screen of a monitor says when the next check is, unless none is planned", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const id = await dashboard.make();
    const state = async () =>
      readHtml((await dashboard.open(`${MONITORS}/${id}`)).text).texts("#monitor-state")[0];
    expect(await state()).toEndWith("every 1 min");
    dashboard.nextCheckAt = dashboard.app.clock.now() + 48_000;
    expect(await state()).toEndWith("every 1 min, next check in 48 s");
  });

  test("the screen of a monitor lists its last results, newest first, and an expiring certificate", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make();
    const { num: monitorNum } = dashboard.stored(id).row;
    const now = app.clock.now();
    await dashboard.record(id, [now - MINUTE_MS, 41], [now, null]);
    await app.ctx.db.write((tx) =>
      saveCertificate(tx, { monitorNum, certificateExpiresAt: now + 9 * DAY_MS }),
    );
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    const rows = readHtml(text).texts(".table tbody tr");
    expect(rows).toEqual(["FailedRefused.12:00:00 · just now–", "OK11:59:00 · 1 min ago41 ms"]);
    expect(readHtml(text).texts("#monitor-state")[0]).toContain("Certificate expires in 9 days");
    expect(readHtml(text).texts("time.t-degraded")).toEqual(["in 9 days"]);
  });

  test("the screen of a monitor shows the status that it sets", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const api = site.components["API"] ?? "";
    const id = await dashboard.make({ component_ids: [api], on_down: "major_outage" });
    await dashboard.applyTransition(id, "down", app.clock.now(), "Refused.");
    const { text } = await dashboard.open(`${MONITORS}/${id}`);
    const page = readHtml(text);
    expect(page.texts("#monitor-components li")).toEqual(["APIMajor outage, set by this monitor"]);
    expect(page.texts("#monitor-state")[0]).toStartWith("Down for ");
  });

  test("a monitor that is down leads to the report of an incident first, unless it has opened one", async () => {
    const primaryOf = async (opens: boolean) => {
      await using dashboard = await createMonitorDashboard();
      const { app, site } = dashboard;
      const component_ids = [site.components["API"] ?? ""];
      const id = await dashboard.make({
        component_ids,
        open_incident: opens ? "automatic" : "never",
      });
      const shown = async () =>
        readHtml((await dashboard.open(`${MONITORS}/${id}`)).text).texts(".screen-head .primary");
      expect(await shown()).toEqual([]);
      await dashboard.applyTransition(id, "down", app.clock.now(), "Refused.");
      return shown();
    };
    expect(await primaryOf(false)).toEqual(["Report incident"]);
    expect(await primaryOf(true)).toEqual([]);
  });

  test("the screen of a new monitor shows no figures and no invalid numbers", async () => {
    await using dashboard = await createMonitorDashboard();
    const id = await dashboard.make();
    for (const range of ["1h", "24h", "7d", "30d", "90d", "1y"]) {
      const { text } = await dashboard.open(`${MONITORS}/${id}?range=${range}`);
      expect(text).not.toMatch(/NaN|Infinity|undefined/);
      expect(figuresOn(text)).toMatchObject({ Uptime: "–", Now: "–" });
    }
  });

  test("the screen of a monitor offers the buttons that fit its state and the role", async () => {
    const buttonsOf = async (
      role: "viewer" | "editor" | "admin",
      type: "http" | "push",
      paused = false,
    ) => {
      await using dashboard = await createMonitorDashboard(role);
      const config = type === "push" ? {} : { url: "https://example.com/" };
      const id = await dashboard.make({ type, config, paused });
      return readHtml((await dashboard.open(`${MONITORS}/${id}`)).text).texts(
        ".screen-head .button",
      );
    };
    expect(await buttonsOf("viewer", "http")).toEqual([]);
    expect(await buttonsOf("editor", "http")).toEqual(["Report incident"]);
    expect(await buttonsOf("admin", "http")).toEqual([
      "Check now",
      "Pause",
      "Edit",
      "More actions",
      "Report incident",
      "Clone",
      "Delete",
    ]);
    expect(await buttonsOf("admin", "http", true)).toEqual([
      "Resume",
      "Edit",
      "More actions",
      "Report incident",
      "Clone",
      "Delete",
    ]);
    expect(await buttonsOf("admin", "push")).toEqual([
      "Pause",
      "Edit",
      "More actions",
      "Report incident",
      "Clone",
      "Rotate token",
      "Delete",
    ]);
  });

  test("the screen of a monitor names the webhooks that get its messages, for admins", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    const id = await dashboard.make({ component_ids: [site.components["API"] ?? ""] });
    const other = await app.page({ slug: "other" }, ["Mail"]);
    const add = (description: string, events: string[], page?: string) =>
      app.ctx.db.write((tx) =>
        createWebhook(
          app.ctx,
          tx,
          { url: "https://hooks.test/", description, events, ...(page ? { page } : {}) },
          CLI_ACTOR,
        ),
      );
    await add("Everything", ["*"]);
    await add("Monitors", ["monitor.down"]);
    await add("Incidents", ["incident.created"]);
    await add("Other page", ["*"], other.page.id);
    const textsFor = async (session: string) =>
      readHtml((await app.call(`${MONITORS}/${id}`, { session })).text).texts(
        "#monitor-notified a",
      );
    expect(await textsFor(dashboard.session)).toEqual(["Change", "Everything", "Monitors"]);
    expect(await textsFor(await app.signedIn("viewer"))).toEqual([]);
  });

  test("the screen of an unknown monitor is not_found", async () => {
    await using dashboard = await createMonitorDashboard();
    expectProblem(await dashboard.open(`${MONITORS}/mon_none`), "not_found");
  });
});
