import { describe, expect, test } from "bun:test";
import { pauseMonitor } from "../../../src/features/monitors";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { MINUTE_MS } from "../../../src/kernel/time";
import { readHtml } from "../../support/html";
import { createMonitorDashboard, MONITORS, NEW_MONITOR } from "../../support/monitor-dashboard";

const names = (html: string) => readHtml(html).texts(".row-link");

describe("the list of monitors", () => {
  test("the list of monitors shows type, target, state and last result, newest monitor first", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app } = dashboard;
    const id = await dashboard.make({
      name: "Shop",
      config: { url: "https://shop.test/up?key=1" },
    });
    await dashboard.make({ name: "Port", type: "tcp", config: { host: "db.test", port: 5432 } });
    const now = app.clock.now();
    await dashboard.record(id, [now - MINUTE_MS, 87], [now, null]);
    const page = readHtml((await dashboard.open()).text);
    expect(page.texts(".row-link")).toEqual(["Port", "Shop"]);
    const [port, shop] = page.texts("tbody tr");
    expect(port).toContain("TCP port · db.test:5432");
    expect(port).toContain("Not checked yet");
    expect(port).toContain("None yet");
    expect(shop).toContain("HTTP(S) · shop.test/up");
    expect(shop).not.toContain("key=1");
    expect(shop).toContain("Failed");
    expect(shop).toContain("Refused.");
    expect(page.attributes("tbody svg.sparkline", "aria-label")).toEqual([
      "Response times of the last 2 checks: 87 ms",
    ]);
    expect(page.attributes("main a", "href")).not.toContain(NEW_MONITOR);
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
    expect(await namesFor("q=SHOP")).toEqual(["Old shop", "Shop"]);
    expect(await namesFor("q=shop&state=pending&type=http&page=acme")).toEqual(["Shop"]);
    expect(await namesFor("state=nonsense&type=nonsense&page=nonsense")).toHaveLength(3);
    const nothing = readHtml((await dashboard.open(`${MONITORS}?q=mainframe`)).text);
    expect(nothing.texts(".empty h2")).toEqual(["No monitors match these filters"]);
  });

  test("the counts by state include all monitors, and each links to its state with the search kept", async () => {
    await using dashboard = await createMonitorDashboard();
    const { app } = dashboard;
    const id = await dashboard.make();
    await dashboard.make({ name: "Other" });
    await app.ctx.db.write((tx) => pauseMonitor(app.ctx, tx, id, CLI_ACTOR));
    const page = readHtml((await dashboard.open(`${MONITORS}?state=down&q=x`)).text);
    expect(page.texts(".stat")).toEqual(["0Down", "0Slow", "0No data", "0Up"]);
    expect(page.attributes(".stat", "href")).toEqual([
      `${MONITORS}?q=x`,
      `${MONITORS}?q=x&state=degraded`,
      `${MONITORS}?q=x&state=no_data`,
      `${MONITORS}?q=x&state=up`,
    ]);
  });

  test("the list of monitors is paginated by fifty, each shown once", async () => {
    await using dashboard = await createMonitorDashboard();
    for (let i = 1; i <= 51; i++) await dashboard.make({ name: `Monitor ${i}` });
    const first = await dashboard.open();
    expect(names(first.text)).toHaveLength(50);
    const [older = ""] = readHtml(first.text).attributes(".pagination a", "href");
    const rest = await dashboard.open(older);
    expect(names(rest.text)).toEqual(["Monitor 1"]);
    expect(readHtml(rest.text).attributes(".pagination a", "href")).toEqual([MONITORS]);
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
