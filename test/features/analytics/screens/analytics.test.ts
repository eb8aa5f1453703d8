import { describe, expect, test } from "bun:test";
import { LINES_MAX } from "../../../../src/features/analytics/period";
import { setManualStatuses } from "../../../../src/features/components/statuses";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { DAY_MS, HOUR_MS } from "../../../../src/base/time";
import { createTestApp, expectProblem } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard, type MonitorDashboard } from "../../../support/monitor-dashboard";
import { createComponent, createKey } from "../../../support/examined";

const ANALYTICS = "/admin/analytics";

/** The lines of the tables of a screen, cell by cell. */
function linesOn(html: string): string[][] {
  const cells: string[][] = [];
  new HTMLRewriter()
    .on(".table tbody tr", { element: () => void cells.push([]) })
    .on(".table tbody td", {
      element: () => void cells.at(-1)?.push(""),
      text: (chunk) => void cells.at(-1)?.push((cells.at(-1)?.pop() ?? "") + chunk.text),
    })
    .transform(html);
  return cells;
}

/** A component that was down for 6 hours of the last 2 days, by its monitor, and one that was slow. */
async function withHistory(dashboard: MonitorDashboard) {
  const { app, site } = dashboard;
  const start = app.clock.now();
  const [api = "", website = ""] = [site.components["API"], site.components["Website"]];
  const id = await dashboard.make({ component_ids: [api], on_down: "major_outage" });
  const alone = await dashboard.make({ name: "Alone, “so”" });
  await dashboard.applyTransition(id, "up", start);
  await app.clock.advance(DAY_MS);
  await dashboard.applyTransition(id, "down", start + DAY_MS);
  const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
  const slow = new Map([[website, "degraded_performance"] as const]);
  await app.ctx.db.write((tx) => setManualStatuses(app.ctx, tx, slow, why));
  await app.clock.advance(6 * HOUR_MS);
  await dashboard.applyTransition(id, "up", start + DAY_MS + 6 * HOUR_MS);
  await app.clock.advance(18 * HOUR_MS);
  return { id, alone, api, session: await app.signedIn("viewer") };
}

describe("the uptime screen", () => {
  test("the uptime screen shows a viewer components with their monitors, then monitors without a component", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { id, session } = await withHistory(dashboard);
    const answer = await dashboard.app.call(ANALYTICS, { session });
    // 6 hours of 48.
    expect(linesOn(answer.text)).toEqual([
      ["API", "87.500 %", "6 h", "", "", expect.any(String)],
      ["Monitor Shop", "87.500 %", "6 h", "", "", expect.any(String)],
      ["Website", "100 %", "", "1 d", "", expect.any(String)],
      ["Alone, “so”", "–", "", "", "", expect.any(String)],
    ]);
    const page = readHtml(answer.text);
    expect(page.attributes("tbody a", "href")).toContain(`/admin/monitors/${id}`);
    expect(page.texts("main p").join(" ")).toContain("1 − down ÷ (up + degraded + down)");
  });

  test("the uptime screen draws the figures of a page, its days and those of each component", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { session } = await withHistory(dashboard);
    const { text } = await dashboard.app.call(`${ANALYTICS}?span=7d`, { session });
    const page = readHtml(text);
    expect(page.texts(".key-numbers dt, .numbers dt").join(" ")).toContain("Lowest component");
    // Six hours of two days, of one of two components.
    expect(page.texts(".uptime-chart tbody td").filter((share) => share !== "–")).toHaveLength(3);
    expect(page.attributes(".uptime-chart .time-plot", "aria-label")[0]).toContain("except");
    expect(page.texts(".uptime-matrix a")).toEqual(["API", "Website"]);
    expect(page.texts(".uptime-matrix li > span")).toEqual(["87.50 %", "100 %"]);
    expect(page.texts(".uptime-matrix .t-major title").join(" ")).toContain("Major outage");
  });

  test("the uptime screen draws no days of a single day, and no days of components for a year", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { session } = await withHistory(dashboard);
    for (const [span, charts] of [
      ["365d", 1],
      ["24h", 0],
    ] as const) {
      const { text } = await dashboard.app.call(`${ANALYTICS}?span=${span}`, { session });
      const page = readHtml(text);
      expect(page.texts(".uptime-matrix a")).toEqual([]);
      expect(page.attributes(".uptime-chart .time-plot", "role")).toHaveLength(charts);
      expect(linesOn(text).length).toBeGreaterThan(2);
    }
  });

  test("the first day of a component counts from its creation, and earlier days have no data", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { session } = await withHistory(dashboard);
    const { text } = await dashboard.app.call(`${ANALYTICS}?span=7d`, { session });
    const shares = readHtml(text).texts(".uptime-chart tbody td");
    expect(shares).toHaveLength(7);
    expect(shares.slice(3)).toEqual(["–", "–", "–", "–"]);
  });

  test("maintenance leaves uptime unchanged, and a page without data has no uptime", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, site } = dashboard;
    const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
    const api = site.components["API"] ?? "";
    const work = new Map([[api, "under_maintenance"] as const]);
    await app.ctx.db.write((tx) => setManualStatuses(app.ctx, tx, work, why));
    await app.clock.advance(6 * HOUR_MS);
    const screen = await dashboard.open(ANALYTICS);
    expect(linesOn(screen.text)[0]).toEqual(["API", "–", "", "", "6 h", expect.any(String)]);
    expect(readHtml(screen.text).texts(".key-numbers dd")[0]).toBe("100 %");
    await app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const second = readHtml((await dashboard.open(`${ANALYTICS}?page=second`)).text);
    expect(second.texts(".key-numbers dd")[0]).toBe("–");
    expect(second.texts("main").join(" ")).toContain("No uptime is known for these days.");
  });

  test("the uptime screen is limited to the chosen span and page", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { session } = await withHistory(dashboard);
    await dashboard.app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const openWith = async (query: string) =>
      linesOn((await dashboard.app.call(`${ANALYTICS}?${query}`, { session })).text).map(
        ([name, uptime]) => `${name} ${uptime}`,
      );
    // The 24 hours begin with the outage.
    const ofDay = ["API 75.000 %", "Monitor Shop 75.000 %", "Website 100 %"];
    expect(await openWith("page=acme&span=24h")).toEqual(ofDay);
    expect(await openWith("span=24h")).toEqual(ofDay);
    expect(await openWith("page=second")).toEqual(["Mail –"]);
    expect(await openWith("page=nonsense&span=nonsense")).toHaveLength(3);
  });

  test("the uptime screen of all pages shows each page, then monitors without a component", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { session } = await withHistory(dashboard);
    await dashboard.app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const { text } = await dashboard.app.call(`${ANALYTICS}?page=&span=7d`, { session });
    expect(linesOn(text).map(([name, uptime, down]) => [name, uptime, down])).toEqual([
      ["Acme2 components", "93.750 %", "6 h"],
      ["Second1 component", "–", ""],
      ["Alone, “so”", "–", ""],
    ]);
    const links = readHtml(text).attributes("tbody a", "href");
    expect(links.slice(0, 2)).toEqual([`${ANALYTICS}?span=7d`, `${ANALYTICS}?page=second&span=7d`]);
    const csv = await dashboard.app.call(`${ANALYTICS}/uptime.csv?page=&span=7d`, { session });
    expect(csv.text.trimEnd().split("\r\n")).toHaveLength(6);
  });

  test("the uptime screen shows a hundred monitors without a component at once, and links to the next ones", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const names = Array.from({ length: 101 }, (_, index) => `Monitor ${index + 1}`);
    for (const name of names) await dashboard.make({ name });
    const first = await dashboard.open(ANALYTICS);
    const monitorsOn = (text: string) =>
      linesOn(text).flatMap(([name = ""]) => (name.startsWith("Monitor") ? [name] : []));
    expect(monitorsOn(first.text)).toEqual(names.slice(0, 100));
    const [next = ""] = readHtml(first.text).attributes(".pagination a", "href");
    const second = await dashboard.open(next);
    expect(monitorsOn(second.text)).toEqual(["Monitor 101"]);
    expect(readHtml(second.text).attributes(".pagination a", "href")).toEqual([ANALYTICS]);
  });

  test("refreshes of an open uptime screen share figures for 15 seconds, and opening it reads them again", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, session } = dashboard;
    await app.clock.advance(HOUR_MS);
    const why = { source: "manual", actor: CLI_ACTOR, reason: null } as const;
    const shareOf = async (headers: Record<string, string>) =>
      linesOn((await app.call(ANALYTICS, { session, headers })).text)[0]?.[1];
    const refresh = { "allclear-live": "1" };
    expect(await shareOf({})).toBe("100 %");
    const down = new Map([[dashboard.site.components["API"] ?? "", "major_outage"] as const]);
    await app.ctx.db.write((tx) => setManualStatuses(app.ctx, tx, down, why));
    await app.clock.advance(10_000);
    expect(await shareOf(refresh)).toBe("100 %");
    await app.clock.advance(5_000);
    expect(await shareOf(refresh)).toBe("99.585 %");
    await app.clock.advance(1_000);
    expect(await shareOf(refresh)).toBe("99.585 %");
    expect(await shareOf({})).toBe("99.557 %");
  });

  test("the uptime CSV file contains the figures of the screen and the formula of each row", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { id, alone, api, session } = await withHistory(dashboard);
    const page = readHtml((await dashboard.app.call(`${ANALYTICS}?span=7d`, { session })).text);
    const [path = ""] = page.attributes(".screen-head a", "href");
    expect(path).toBe(`${ANALYTICS}/uptime.csv?span=7d`);
    const { text, headers } = await dashboard.app.call(path, { session });
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("content-disposition")).toBe('attachment; filename="uptime-acme-7d.csv"');
    expect(headers.get("cache-control")).toBe("no-store");
    const [header, ...lines] = text.trimEnd().split("\r\n");
    expect(header).toStartWith("kind,id,name,page,from,to,uptime,");
    expect(lines.map((line) => line.split(",").slice(0, 2).join(" "))).toEqual([
      `component ${api}`,
      `component ${dashboard.site.components["Website"]}`,
      `monitor ${id}`,
      `monitor ${alone}`,
    ]);
    expect(lines[0]).toContain(",API,acme,");
    expect(lines[0]).toContain(",0.875,");
    expect(lines[2]).toContain(",Shop,,");
    expect(lines[0]).toContain("0.3 × partial outage");
    expect(lines[2]).toContain("1 − down ÷");
  });

  test("the uptime screen shows no figures before there is any data", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { text } = await dashboard.open(`${ANALYTICS}?page=acme`);
    expect(linesOn(text)).toHaveLength(2);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("periods of UTC", () => {
  test.each([
    ["UTC", [], [""]],
    ["Asia/Kathmandu", ["Months of UTC"], ["Days of UTC"]],
  ])("to a user of %s, days and months are named %p and %p", async (time_zone, months, days) => {
    await using dashboard = await createMonitorDashboard("viewer");
    const form = { time_zone };
    await dashboard.app.call("/admin/settings/account/time-zone", {
      session: dashboard.session,
      form,
    });
    const incidents = readHtml((await dashboard.open(`${ANALYTICS}/incidents`)).text);
    expect(incidents.texts("#incident-chart .muted")).toEqual(months);
    const id = dashboard.site.components["API"] ?? "";
    const component = readHtml((await dashboard.open(`/admin/components/${id}`)).text);
    expect(component.texts("#component-uptime [data-day-note]")).toEqual(days);
  });
});

describe("the incident analytics", () => {
  test("the incident analytics count incidents and their durations by the month of their start", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, site } = dashboard;
    const key = await app.keyWith("write:incidents");
    const report = (body: object) =>
      app.call("/api/v1/incidents", {
        method: "POST",
        key,
        json: { page: "acme", body: "x", ...body },
      });
    const api = site.components["API"] ?? "";
    await report({
      name: "Old",
      components: { [api]: "major_outage" },
      started_at: "2026-01-05T10:00:00.000Z",
      resolved_at: "2026-01-05T12:30:00.000Z",
    });
    await report({ name: "Open", components: { [api]: "partial_outage" } });
    await report({ name: "A draft", draft: true });
    await app.clock.advance(1);
    const { text } = await dashboard.open(`${ANALYTICS}/incidents`);
    const lines = linesOn(text);
    expect(lines).toHaveLength(12);
    expect(lines[0]?.slice(0, 5)).toEqual(["March 2026", "1", "", "1", ""]);
    expect(lines[1]).toEqual(["February 2026", "", "", "", "", "", "", "", ""]);
    expect(lines[2]).toEqual([
      "January 2026",
      "1",
      "",
      "",
      "1",
      "",
      "",
      "2 h 30 min",
      "2 h 30 min",
    ]);
    expect(lines.at(-1)?.[0]).toBe("April 2025");
    const page = readHtml(text);
    const figures = page.texts(".key-numbers .number-value");
    expect(figures).toEqual(["2", "1", "1", "1", "2 h 30 min", expect.any(String)]);
    expect(page.texts("svg title").slice(-3)).toEqual([
      "January 2026: 1 critical",
      "February 2026: none",
      "March 2026: 1 major",
    ]);
  });
});

describe("the request analytics", () => {
  test("the request analytics count requests by key, most used first, and link to keys only for admins", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, session } = dashboard;
    const { key } = await app.createKey({ name: "Unused" });
    const used = await app.createKey({ name: "Used" });
    for (let i = 0; i < 3; i++) await app.call("/api/v1/key", { key: used.value });
    await app.call("/api/v1/incidents/inc_none", { key: used.value });
    await app.clock.advance(10_000);
    const { text } = await app.call(`${ANALYTICS}/requests?span=24h`, { session });
    expect(linesOn(text)).toEqual([
      ["Used", "4", "3", "1", "", "10 s ago"],
      ["Unused", "", "", "", "", "Never"],
    ]);
    expect(readHtml(text).attributes("tbody a", "href")).toEqual([]);
    const admin = await app.signedIn("admin");
    const forAdmin = await app.call(`${ANALYTICS}/requests`, { session: admin });
    expect(readHtml(forAdmin.text).attributes("tbody a", "href")).toContain(
      `/admin/settings/keys/${key.id}`,
    );
  });
});

test("uptime and requests are not shown for more components or keys than one answer may have", async () => {
  await using app = await createTestApp();
  const session = await app.signedIn("viewer");
  const { page } = await app.page({ slug: "acme" }, []);
  await app.page({ slug: "second", name: "Second" }, ["Mail"]);
  const { ctx } = app;
  const key = { scopes: ["read:status" as const] };
  const add = (numbers: readonly number[]) =>
    ctx.db.write((tx) => {
      for (const number of numbers) {
        const name = `Part ${number}`;
        const place = { managedBy: null, groupId: null, position: number };
        createComponent(ctx, tx, page, { name }, place, CLI_ACTOR);
        createKey(ctx, tx, { ...key, name }, CLI_ACTOR);
      }
    });
  const open = async (path: string) => (await app.call(`${ANALYTICS}${path}`, { session })).text;
  await add(Array.from({ length: LINES_MAX }, (_, index) => index));
  expect(linesOn(await open(""))).toHaveLength(LINES_MAX);
  expect(linesOn(await open("/requests"))).toHaveLength(LINES_MAX);
  await add([LINES_MAX]);
  for (const path of ["", "/requests"]) {
    // oxlint-disable-next-line no-await-in-loop
    const html = await open(path);
    expect(readHtml(html).texts(".notice")[0]).toMatch(/^There are too many .+ to show at once/);
    expect(linesOn(html)).toEqual([]);
  }
  expect(linesOn(await open("?page=second"))).toHaveLength(1);
});

test("the analytics require a session", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const paths = ["", "/uptime.csv", "/calendar", "/response-time", "/incidents", "/requests"];
  for (const path of paths) {
    expectProblem(await dashboard.app.call(ANALYTICS + path), "sign_in_required");
    expect((await dashboard.open(ANALYTICS + path)).status).toBe(200);
  }
});
