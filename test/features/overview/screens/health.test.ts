import { describe, expect, test } from "bun:test";
import { arcTones } from "../../../../src/features/overview/screens/health";
import type { Tone } from "../../../../src/base/status";
import { createTestApp } from "../../../support/app";
import { createMonitorDashboard } from "../../../support/monitor-dashboard";
import { openOverview } from "../../../support/overview";
import { createReportSite } from "../../../support/report-dashboard";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("the arcs of the gauge", () => {
  const part = (group: string, tone: Tone = "ok") => ({ group, tone });

  test("up to 60 components have an arc each", () => {
    const parts = Array.from({ length: 60 }, (_, i) => part("one", i === 7 ? "major" : "ok"));
    expect(arcTones(parts)).toHaveLength(60);
    expect(arcTones(parts)[7]).toBe("major");
  });

  test("with more components, each group has an arc in its worst tone", () => {
    const parts = Array.from({ length: 61 }, (_, i) => part(i < 30 ? "one" : "two"));
    expect(arcTones([...parts, part("two", "partial"), part("two", "maint")])).toEqual([
      "ok",
      "partial",
    ]);
  });

  test("with more than 60 groups, 60 arcs are shared, and no tone is lost", () => {
    const parts = Array.from({ length: 2_000 }, (_, i) => part(`group ${i}`));
    const arcs = arcTones([...parts, part("bad", "major"), part("worked on", "maint")]);
    expect(arcs).toHaveLength(60);
    expect(arcs.filter((tone) => tone === "major")).toHaveLength(1);
    expect(arcs.filter((tone) => tone === "maint")).toHaveLength(1);
  });
});

describe("the health of the overview", () => {
  test("the ring has an arc for each component, and the others are counted by tone", async () => {
    await using site = await createReportSite();
    await site.open({ components: { [site.api]: "partial_outage" } });
    const { page } = await openOverview(site.app, site.session);
    expect(page.attributes("#health .gauge path", "class")).toEqual(["t-partial bad", "t-ok"]);
    expect(page.attributes("#health .gauge", "aria-label")).toEqual([
      "1 of 2 components are operational",
    ]);
    expect(page.texts("#health h2")).toEqual(["1 of 2 operational"]);
    expect(page.texts("#health .health-now .state")).toEqual(["1 with a partial outage"]);
  });

  test("without monitors the ring is dashed, and it closes with a monitor that is up", async () => {
    await using site = await createMonitorDashboard();
    const { page } = await openOverview(site.app, site.session);
    expect(page.texts("#health h2")).toEqual(["Not monitored yet"]);
    expect(page.attributes("#health .gauge path", "class")).toEqual(["unset"]);
    const id = await site.make();
    await site.applyTransition(id, "up", site.app.clock.now());
    const after = await openOverview(site.app, site.session);
    expect(after.page.texts("#health h2")).toEqual(["All clear"]);
    expect(after.page.texts("#health p")).toEqual([
      "2 components and 1 monitor are well. No component has been down so far.",
    ]);
  });

  test("the uptime is “No data yet” until a monitor has a result, and on the first day counted since today", async () => {
    await using site = await createMonitorDashboard();
    const uptime = async () =>
      (await openOverview(site.app, site.session)).page.texts("#health .number")[2];
    await site.app.clock.advance(2 * HOUR);
    expect(await uptime()).toBe("Uptime, 30 days–No data yet");
    const id = await site.make();
    await site.app.clock.advance(MINUTE);
    expect(await uptime()).toBe("Uptime, 30 days–No data yet");
    await site.applyTransition(id, "up", site.app.clock.now());
    await site.app.clock.advance(MINUTE);
    expect(await uptime()).toBe("Uptime, 30 days100 %Counted since today");
  });

  test("the uptime of statuses that people set counts once an outage is known", async () => {
    await using site = await createReportSite();
    await site.app.clock.advance(HOUR);
    await site.open({ components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(HOUR);
    const { page } = await openOverview(site.app, await site.app.signedIn("viewer"));
    expect(page.texts("#health .number")[2]).toContain("of outage");
  });

  test("the health says for how long no component was down, and the line says nothing about it", async () => {
    await using site = await createMonitorDashboard();
    const { API: api = "" } = site.site.components;
    const now = site.app.clock.now();
    const id = await site.make({ component_ids: [api] });
    await site.applyTransition(id, "down", now - 30 * MINUTE);
    await site.applyTransition(id, "up", now - 12 * MINUTE);
    const { page } = await openOverview(site.app, site.session);
    expect(page.texts("#health p")).toEqual([
      "2 components and 1 monitor are well. No component has been down for 12 min.",
    ]);
    expect(page.texts("#attention")[0]).toStartWith("Nothing needs attention.");
  });

  test("“All clear” is absent while a monitor has no result, and without components or active monitors", async () => {
    await using site = await createMonitorDashboard();
    const healthOf = async () => {
      const { page } = await openOverview(site.app, site.session);
      return [page.texts("#health h2")[0], page.texts("#health .number")[0]];
    };
    const now = site.app.clock.now();
    await site.applyTransition(await site.make(), "up", now);
    const other = await site.make();
    expect(await healthOf()).toEqual(["2 of 2 operational", "Monitors1 of 2 up1 not checked yet"]);
    await site.applyTransition(other, "no_data", now);
    expect(await healthOf()).toEqual(["2 of 2 operational", "Monitors1 of 2 up1 without data"]);
    await site.applyTransition(other, "paused", now);
    expect(await healthOf()).toEqual(["All clear", "Monitors1 of 1 up1 paused"]);
  });

  test("the four numbers count monitors, incidents, uptime and deliveries, each with a link", async () => {
    await using site = await createMonitorDashboard();
    const now = site.app.clock.now();
    const { API: api = "" } = site.site.components;
    await site.applyTransition(await site.make(), "up", now);
    const down = await site.make({ component_ids: [api], on_down: "major_outage" });
    await site.applyTransition(down, "down", now);
    await site.applyTransition(await site.make(), "paused", now);
    await site.app.clock.advance(2 * HOUR);
    const session = await site.app.signedIn("admin");
    const { page } = await openOverview(site.app, session);
    expect(page.texts("#health .number")).toEqual([
      "Monitors1 of 2 up1 down, 1 paused",
      "Open incidents0None so far",
      "Uptime, 30 days50.00 %2 h of outage",
      "Deliveries, 24 h0No webhook yet",
    ]);
    const paths = page.attributes("#health a.number", "href");
    expect(paths).toHaveLength(4);
    for (const path of paths) expect((await site.app.call(path, { session })).status).toBe(200);
    const seen = await openOverview(site.app, await site.app.signedIn("viewer"));
    expect(seen.page.attributes("#health a.number", "href")).toEqual(paths.slice(0, 3));
  });

  test("an open incident is counted with the worst impact", async () => {
    await using site = await createReportSite();
    await site.open({ components: { [site.api]: "degraded_performance" } });
    await site.open({ components: { [site.web]: "major_outage" } });
    const { page } = await openOverview(site.app, site.session);
    expect(page.texts("#health .number")[1]).toBe("Open incidents2Critical impact");
  });

  test("after its end, an incident is named as the last one, and the overview has its other blocks", async () => {
    await using app = await createTestApp();
    await app.page();
    const session = await app.signedIn("admin");
    const blocks = async () =>
      (await openOverview(app, session)).page.attributes("main section", "id");
    expect(await blocks()).toEqual(["first-steps", "health"]);
    const key = await app.keyWith("write:incidents");
    const json = { page: "acme", name: "The API is down", body: "We look." };
    const { id } = (await app.call("/api/v1/incidents", { method: "POST", key, json })).body;
    const update = { status: "resolved", body: "It is solved." };
    await app.call(`/api/v1/incidents/${id}/updates`, { method: "POST", key, json: update });
    await app.clock.advance(2_000);
    const { page } = await openOverview(app, session);
    expect(page.texts("#health .number")[1]).toStartWith("Open incidents0Last on ");
    expect(await blocks()).toContain("incidents");
  });
});

describe("the last 24 hours", () => {
  test("a component that was not operational has a lane with its times, also after it recovered", async () => {
    await using site = await createReportSite();
    await site.app.clock.advance(2 * HOUR);
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(30 * MINUTE);
    await site.update(id, { status: "resolved" });
    await site.app.clock.advance(30 * MINUTE);
    const { page } = await openOverview(site.app, await site.app.signedIn("viewer"));
    expect(page.attributes("#last-day .lane a", "href")).toEqual([`/admin/components/${site.api}`]);
    expect(page.attributes("#last-day svg", "aria-label")).toEqual([
      "API: not operational for 30 min",
    ]);
    const bar = "#last-day rect:not(.track)";
    expect(page.attributes(bar, "class")).toEqual(["t-major"]);
    expect(page.attributes(bar, "x")).toEqual([String(1_440 - 60)]);
    expect(page.attributes(bar, "width")).toEqual(["30"]);
    expect(page.texts("#last-day .card-head .muted")).toEqual([
      "1 component was operational all day",
    ]);
  });

  test("the block is absent a day later", async () => {
    await using site = await createReportSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(30 * MINUTE);
    await site.update(id, { status: "resolved" });
    await site.app.clock.advance(24 * HOUR);
    const { page } = await openOverview(site.app, await site.app.signedIn("viewer"));
    expect(page.texts("#last-day")).toEqual([]);
  });

  test("eight components have a lane, the worst first, and the others are counted", async () => {
    await using site = await createReportSite();
    const names = Array.from({ length: 10 }, (_, i) => `Part ${i}`);
    const { components } = await site.app.page({ slug: "shop" }, names);
    const statuses = Object.fromEntries(
      names.map((name, i) => [
        components[name] ?? "",
        i === 9 ? "major_outage" : "degraded_performance",
      ]),
    );
    await site.open({ page: "shop", components: statuses });
    await site.app.clock.advance(5 * MINUTE);
    const { page } = await openOverview(site.app, site.session);
    expect(page.texts("#last-day .lane > a")).toHaveLength(8);
    expect(page.texts("#last-day .lane > a")[0]).toBe("Part 9");
    expect(page.texts('#last-day li > a[href="/admin/components"]')).toEqual([
      "and 2 more components",
    ]);
  });
});
