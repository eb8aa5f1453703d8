import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { createMonitorDashboard } from "../../../support/monitor-dashboard";

const RESPONSE_TIMES = "/admin/analytics/response-time";

describe("the response time analytics", () => {
  test("response times show all monitors of a page together and each, slowest first", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const { app, site, session } = dashboard;
    const component_ids = [site.components["API"] ?? ""];
    const fast = await dashboard.make({ name: "Fast", component_ids });
    const slow = await dashboard.make({ name: "Slow", component_ids });
    await dashboard.make({ name: "Silent", component_ids });
    const job = await dashboard.make({ name: "Job", type: "push", config: {}, component_ids });
    await app.clock.advance(5 * MINUTE_MS);
    const at = (minutes: number) => app.clock.now() - minutes * MINUTE_MS;
    await dashboard.record(fast, [at(4), 100], [at(3), 100], [at(2), 100], [at(1), null]);
    await dashboard.record(slow, [at(4), 900]);
    await dashboard.record(job, [at(4), 60_000]);
    const page = readHtml((await dashboard.open(RESPONSE_TIMES)).text);
    expect(page.texts("tbody[role=rowgroup] tr a")).toEqual(["Slow", "Fast", "Silent"]);
    const figures = page.texts(".key-numbers .number-value");
    // Quantiles are accurate to 2 %.
    expect(figures[0]).toBe("102 ms");
    expect(figures.slice(4)).toEqual(["5", "1"]);
    expect(page.texts(".time-chart .day-table tbody tr")).toHaveLength(30);
    expect(page.texts(".time-chart .day-table tbody tr")[0]).toContain("1 of 5");
    expect(page.texts(".time-plot title").at(-1)).toContain("Failed checks 1 of 5");
    const day = readHtml((await app.call(`${RESPONSE_TIMES}?span=24h`, { session })).text);
    expect(day.texts(".time-plot title").length).toBeGreaterThan(23);
  });

  test("response times of a year have at most 92 points", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const id = await dashboard.make({ component_ids: [dashboard.site.components["API"] ?? ""] });
    await dashboard.app.clock.advance(MINUTE_MS);
    await dashboard.record(id, [dashboard.app.clock.now() - 1, 20]);
    const { text } = await dashboard.open(`${RESPONSE_TIMES}?span=365d`);
    expect(readHtml(text).texts(".time-plot title")).toHaveLength(92);
  });

  test("response times without any result, and without monitors, say so", async () => {
    await using dashboard = await createMonitorDashboard("viewer");
    const empty = readHtml((await dashboard.open(RESPONSE_TIMES)).text);
    expect(empty.texts("main").join(" ")).toContain("No monitor measures response times here");
    await dashboard.make({ name: "Alone" });
    const ofPage = readHtml((await dashboard.open(RESPONSE_TIMES)).text);
    expect(ofPage.texts("tbody[role=rowgroup] tr a")).toEqual([]);
    await dashboard.app.page({ slug: "second", name: "Second" }, ["Mail"]);
    const all = readHtml((await dashboard.open(`${RESPONSE_TIMES}?page=`)).text);
    expect(all.texts("tbody[role=rowgroup] tr a")).toEqual(["Alone"]);
    expect(all.texts("main").join(" ")).toContain("No response time was measured in this period.");
  });
});
