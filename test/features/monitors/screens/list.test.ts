import { describe, expect, test } from "bun:test";
import { deleteMonitor, pauseMonitor } from "../../../../src/features/monitors/monitors";
import { insertSpan } from "../../../../src/features/monitors/spans-store";
import { saveHeartbeat } from "../../../../src/features/monitors/job-store";
import { saveCertificate } from "../../../../src/features/monitors/store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { probeOf } from "../../../../src/features/monitors/probes";
import { isPassive, type MonitorState, SUPPORTED_TYPES } from "../../../../src/base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { MONITOR_CONFIGS } from "../../../support/monitor-configs";
import { usePingProgram } from "../../../support/ping-program";
import { createMonitorDashboard, MONITORS, NEW_MONITOR } from "../../../support/monitor-dashboard";

const names = (html: string) => readHtml(html).texts(".row-link");

describe("the list of monitors", () => {
  test("each row of the list of monitors shows state, type, target, components and figures", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, site } = dashboard;
    const api = site.components["API"] ?? "";
    const id = await dashboard.make({
      name: "Shop",
      config: { url: "https://shop.test/up?key=1" },
      component_ids: [api],
    });
    await dashboard.make({ name: "Port", type: "tcp", config: { host: "db.test", port: 5432 } });
    await dashboard.applyTransition(id, "up", app.clock.now() + 1);
    await app.clock.advance(5 * MINUTE_MS);
    await dashboard.record(id, [app.clock.now() - MINUTE_MS, 87]);
    const page = readHtml((await dashboard.open()).text);
    expect(page.texts(".row-link")).toEqual(["Port", "Shop"]);
    const [port, shop] = page.texts("tbody tr");
    expect(port).toContain("Not checked yet");
    expect(port).toContain("TCP port · db.test:5432");
    expect(shop).toContain("HTTP(S) · shop.test/up");
    expect(shop).not.toContain("key=1");
    expect(shop).toContain("100 %");
    expect(shop).toContain("87 ms");
    expect(shop).toContain("1 min ago");
    expect(page.attributes("tbody a", "href")).toContain(`/admin/components/${api}`);
    expect(page.attributes("main a", "href")).not.toContain(NEW_MONITOR);
    expect(page.attributes("input[type=checkbox]", "value")).toEqual([]);
  });

  test("monitors are listed worst first, and those in the same state by name", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const now = app.clock.now();
    const states = { B: "up", a: "up", C: "down", D: "degraded", E: "no_data", G: "maintenance" };
    for (const [name, state] of Object.entries(states)) {
      const id = await dashboard.make({ name });
      await dashboard.applyTransition(id, state as MonitorState, now);
    }
    const paused = await dashboard.make({ name: "A paused one" });
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, paused, CLI_ACTOR));
    await dashboard.make({ name: "F" });
    const listed = names((await dashboard.open()).text);
    expect(listed).toEqual(["C", "D", "E", "F", "G", "a", "B", "A paused one"]);
  });

  test("the head of the first column lists the monitors by name, also in the next part, and back", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app } = dashboard;
    for (let i = 10; i <= 36; i++) await dashboard.make({ name: `Monitor ${i}` });
    const down = await dashboard.make({ name: "Zebra" });
    await dashboard.applyTransition(down, "down", app.clock.now());
    const worst = readHtml((await dashboard.open(`${MONITORS}?q=e`)).text);
    expect(worst.texts(".row-link")[0]).toBe("Zebra");
    expect(worst.attributes("th[aria-sort]", "aria-sort")).toEqual(["other"]);
    const [byName = ""] = worst.attributes("th a", "href");
    expect(byName).toBe(`${MONITORS}?q=e&sort=name`);
    const page = readHtml((await dashboard.open(byName)).text);
    expect(page.texts(".row-link")[0]).toBe("Monitor 10");
    expect(page.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    expect(page.attributes("th a", "href")).toEqual([
      `${MONITORS}?q=e&sort=-name`,
      `${MONITORS}?q=e&sort=-response`,
      `${MONITORS}?q=e&sort=-checked`,
    ]);
    // The search and the filters keep the order.
    expect(page.attributes("select[name=sort] option[selected]", "value")).toEqual(["name"]);
    expect(page.attributes(".tabs a", "href")[0]).toBe(byName);
    const [older = ""] = page.attributes(".pagination a", "href");
    expect(names((await dashboard.open(older)).text)).toEqual([
      "Monitor 35",
      "Monitor 36",
      "Zebra",
    ]);
    const reversed = readHtml((await dashboard.open(`${MONITORS}?sort=-name`)).text);
    expect(reversed.texts(".row-link").slice(0, 2)).toEqual(["Zebra", "Monitor 36"]);
    expect(reversed.attributes("th a", "href")[0]).toBe(MONITORS);
    const unknown = readHtml((await dashboard.open(`${MONITORS}?sort=colour`)).text);
    expect(unknown.attributes("th[aria-sort]", "aria-sort")).toEqual(["other"]);
  });

  test("a job's row says how often it calls, and a certificate that expires soon replaces the target", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app } = dashboard;
    const now = app.clock.now();
    await dashboard.make({ name: "A job", type: "push", config: {}, interval_seconds: 300 });
    const called = await dashboard.make({ name: "B job", type: "push", config: {} });
    const shop = await dashboard.make({ name: "C shop" });
    const { num } = dashboard.stored(shop).row;
    await app.ctx.db.write((tx) => {
      saveHeartbeat(tx, {
        monitorNum: dashboard.stored(called).row.num,
        heartbeatAt: now - MINUTE_MS,
      });
      saveCertificate(tx, { monitorNum: num, certificateExpiresAt: now + 9 * DAY_MS });
    });
    expect(readHtml((await dashboard.open()).text).texts("tbody .note")).toEqual([
      "Heartbeat every 5 min, none yet",
      "Heartbeat every 1 min, last 1 min ago",
      "Certificate expires in 9 days",
    ]);
  });

  test("the bars of all monitors cover the same 48 half hours, and an outage is higher than a slow time", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const now = app.clock.now();
    app.clock.setWallClock(now - 2 * DAY_MS);
    const [one, two] = [
      await dashboard.make({ name: "One" }),
      await dashboard.make({ name: "Two" }),
    ];
    for (const id of [one, two]) await dashboard.applyTransition(id, "up", now - 2 * DAY_MS + 1);
    app.clock.setWallClock(now);
    const hour = now - (now % HOUR_MS) - 2 * HOUR_MS;
    await dashboard.applyTransition(one, "down", hour);
    await dashboard.applyTransition(one, "up", hour + MINUTE_MS);
    await dashboard.applyTransition(two, "degraded", hour + MINUTE_MS);
    await dashboard.applyTransition(two, "up", hour + HOUR_MS);
    const page = readHtml((await dashboard.open()).text);
    expect(page.attributes(".beats", "aria-label")).toEqual([
      "The last 24 hours of One: down in 1 half hour",
      "The last 24 hours of Two: slow in 2 half hours",
    ]);
    // The hour began four half hours ago.
    const x = (48 - 4) * 4;
    expect(page.attributes(".beats .t-major", "d")).toEqual([`M${x} 0h3v20h-3z`]);
    expect(page.attributes(".beats .t-degraded", "d")).toEqual([
      `M${x} 2.5h3v15h-3zM${x + 4} 2.5h3v15h-3z`,
    ]);
    expect(page.texts("tbody tr")[0]).toContain("99.93 %");
  });

  test("the bars of a monitor are unknown before its first check and while it is paused", async () => {
    await using dashboard = await createMonitorDashboard();
    await dashboard.make();
    const page = readHtml((await dashboard.open()).text);
    const [bars = ""] = page.attributes(".beats .t-none", "d");
    expect(bars.match(/v3/g)).toHaveLength(48);
    expect(page.texts("tbody tr")[0]).toContain("–");
  });

  test("the list of monitors can be filtered by page, state, type and part of the name", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app, site } = dashboard;
    await app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const api = site.components["API"] ?? "";
    await dashboard.make({ name: "Shop", component_ids: [api] });
    await dashboard.make({ name: "Gateway", type: "tls", config: { host: "10.0.0.1" } });
    const paused = await dashboard.make({ name: "Old shop" });
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, paused, CLI_ACTOR));
    const namesFor = async (query: string) =>
      names((await dashboard.open(`${MONITORS}?${query}`)).text);
    expect(await namesFor("page=acme")).toEqual(["Shop"]);
    expect(await namesFor("page=second")).toEqual([]);
    expect(await namesFor("state=paused")).toEqual(["Old shop"]);
    expect(await namesFor("type=tls")).toEqual(["Gateway"]);
    expect(await namesFor("q=SHOP")).toEqual(["Shop", "Old shop"]);
    expect(await namesFor("q=10.0.0")).toEqual(["Gateway"]);
    expect(await namesFor("q=api")).toEqual(["Shop"]);
    expect(await namesFor("q=shop&state=pending&type=http&page=acme")).toEqual(["Shop"]);
    expect(await namesFor("state=nonsense&type=nonsense&page=nonsense")).toHaveLength(3);
    const nothing = readHtml((await dashboard.open(`${MONITORS}?q=mainframe`)).text);
    expect(nothing.texts(".empty h2")).toEqual(["No monitors match these filters"]);
  });

  test("a search finds the address as it is shown, but no secret of the configuration", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    await dashboard.make({
      config: {
        url: "https://shop.test/up?key=hidden#fragment",
        headers: { Authorization: "Bearer hidden" },
      },
    });
    const count = async (q: string) =>
      names((await dashboard.open(`${MONITORS}?q=${encodeURIComponent(q)}`)).text).length;
    expect(await count("shop.test/up")).toBe(1);
    for (const secret of ["hidden", "key=", "Bearer", "fragment"])
      expect(await count(secret)).toBe(0);
  });

  test("a search finds the target of each type, and no secret", async () => {
    using _ping = usePingProgram("");
    await using dashboard = await createMonitorDashboard("viewer");
    const found = async (q: string) =>
      names((await dashboard.open(`${MONITORS}?q=${encodeURIComponent(q)}`)).text);
    for (const type of SUPPORTED_TYPES.filter((each) => !isPassive(each))) {
      const [config] = MONITOR_CONFIGS[type];
      await dashboard.make({ name: type, type, config, interval_seconds: 3_600 });
      // A port, a type of records and a path are not needed.
      const [target = ""] = probeOf(type)
        .targetOf(config)
        .split(/[:/]| [A-Z]+$/);
      expect(await found(target)).toContain(type);
    }
    expect(await found("hidden")).toEqual([]);
  });

  test("the tabs count the monitors that match the other filters, and keep these", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make({ name: "Shop" });
    await dashboard.make({ name: "Shop search" });
    await dashboard.make({ name: "Other", config: { url: "https://other.test/" } });
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, id, CLI_ACTOR));
    const page = readHtml((await dashboard.open(`${MONITORS}?state=down&q=shop`)).text);
    expect(page.texts(".tabs li")).toEqual(["All 2", "Down 0", "Not checked yet 1", "Paused 1"]);
    expect(page.attributes(".tabs a", "href")).toEqual([
      `${MONITORS}?q=shop`,
      `${MONITORS}?q=shop&state=down`,
      `${MONITORS}?q=shop&state=pending`,
      `${MONITORS}?q=shop&state=paused`,
    ]);
    expect(page.texts(".list-count")).toEqual(["0 monitors"]);
    expect(page.attributes(".list-clear", "href")).toEqual([`${MONITORS}?state=down`]);
  });

  test("the list of monitors is paginated by 25, each shown once", async () => {
    await using dashboard = await createMonitorDashboard();
    for (let i = 10; i <= 35; i++) await dashboard.make({ name: `Monitor ${i}` });
    const first = await dashboard.open();
    expect(names(first.text)).toHaveLength(25);
    const [older = ""] = readHtml(first.text).attributes(".pagination a", "href");
    const rest = await dashboard.open(older);
    expect(names(rest.text)).toEqual(["Monitor 35"]);
    expect(readHtml(rest.text).attributes(".pagination a", "href")).toEqual([MONITORS]);
  });

  test("the next part of the list continues at its place when monitors change their state or are deleted", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const ids = new Map<string, string>();
    for (let i = 10; i <= 37; i++) ids.set(`${i}`, await dashboard.make({ name: `Monitor ${i}` }));
    const first = readHtml((await dashboard.open()).text);
    const [older = ""] = first.attributes(".pagination a", "href");
    const rest = async () => names((await dashboard.open(older)).text);
    const expected = ["Monitor 35", "Monitor 36", "Monitor 37"];
    expect(await rest()).toEqual(expected);
    // The last monitor of the first part goes up, and so to the end of the list.
    await dashboard.applyTransition(ids.get("34") ?? "", "up", app.clock.now());
    expect(await rest()).toEqual([...expected, "Monitor 34"]);
    await app.ctx.db.write((tx) => deleteMonitor(app.ctx, tx, ids.get("34") ?? "", CLI_ACTOR));
    expect(await rest()).toEqual(expected);
    const chosen = readHtml((await dashboard.open(older)).text);
    const [action = ""] = chosen.attributes("form[method=post][action*=selected]", "action");
    const answer = await dashboard.send(action, { intent: "check", id: [ids.get("36") ?? ""] });
    expect(answer.headers.get("location")).toBe(older);
    for (const unknown of ["mon_none", "down.mon_none", "up", "%00"]) {
      const { text } = await dashboard.open(`${MONITORS}?before=${unknown}`);
      expect(names(text)).toHaveLength(25);
    }
  });

  test("a monitor that changed its state more than a thousand times shows no uptime of 30 days", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const now = app.clock.now();
    const start = now - 1_101 * 2 * MINUTE_MS;
    app.clock.setWallClock(start);
    const { num } = dashboard.stored(await dashboard.make()).row;
    await app.ctx.db.write((tx) => {
      for (let i = 1; i <= 1_100; i++) {
        const startedAt = start + i * 2 * MINUTE_MS;
        const state = i % 2 === 0 ? "up" : "down";
        insertSpan(tx, {
          monitorNum: num,
          startedAt,
          endedAt: startedAt + 2 * MINUTE_MS,
          state,
          message: null,
        });
      }
    });
    app.clock.setWallClock(now);
    const row = readHtml((await dashboard.open()).text).texts("tbody tr td");
    expect(row).toContain("50.00 %");
    expect(row.filter((text) => text === "–")).toHaveLength(3);
  });

  test("an empty list of monitors explains monitors and links to the form for those who may create one", async () => {
    for (const role of ["editor", "admin"] as const) {
      await using dashboard = await createMonitorDashboard(role);
      const page = readHtml((await dashboard.open()).text);
      expect(page.texts(".empty h2")).toEqual(["No monitors yet"]);
      expect(page.attributes(".empty a", "href")).toEqual(role === "admin" ? [NEW_MONITOR] : []);
    }
  });
});
