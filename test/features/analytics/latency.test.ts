import { describe, expect, test } from "bun:test";
import { startRollUps } from "../../../src/features/monitors/rollup";
import { type CheckRow, ofMonitors } from "../../../src/features/monitors/checks-store";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { type AnalyticsSite, createAnalyticsSite } from "../../support/analytics";
import { TEST_START } from "../../support/clock";
import { addMonitor, check } from "../../support/monitor-store";

const HOURS = 5;

/** Latencies that are told apart, the same in every run: every seventh check fails, one is unknown. */
function resultsOf(monitorNum: number, from: number): CheckRow[] {
  return Array.from({ length: HOURS * 60 }, (_, i) => {
    const at = from + i * MINUTE_MS + monitorNum;
    if (i === 100) return { ...check(monitorNum, at, null), outcome: "unknown" };
    return check(monitorNum, at, i % 7 === 0 ? null : 20 + ((i * 7919 * monitorNum) % 1_500));
  });
}

/** Two monitors with five hours of results each, of which those that are over are rolled up. */
async function watched(site: AnalyticsSite) {
  const { ctx, clock } = site.app;
  const { API = "", Website = "" } = site.components;
  const made = await ctx.db.write((tx) => {
    const add = (name: string, ...componentIds: string[]) =>
      addMonitor(ctx, tx, { name, componentIds, createdAt: TEST_START });
    return [add("Shop", API, Website), add("Search", API), add("Elsewhere")];
  });
  const [shop, search] = made.map((row) => ({ row, results: resultsOf(row.num, TEST_START) }));
  if (!shop || !search) throw new Error("there are no monitors");
  await ctx.db.write((tx) => {
    for (const result of [...shop.results, ...search.results]) ofMonitors.insertCheck(tx, result);
  });
  const rollUps = startRollUps(ctx, { oldestUnwritten: () => undefined });
  await clock.advance(HOURS * HOUR_MS - 10 * MINUTE_MS);
  rollUps.cancel();
  return { shop, search };
}

/** Computes the figures of a line from its single results. */
function recount(results: readonly CheckRow[], line: { from: string; to: string }) {
  const own = results.filter(
    ({ at, outcome }) =>
      at >= Date.parse(line.from) && at < Date.parse(line.to) && outcome !== "unknown",
  );
  const latencies = own
    .flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
    .sort((a, b) => a - b);
  const sum = latencies.reduce((total, each) => total + each, 0);
  return {
    exact: {
      checks: own.length,
      failures: own.filter(({ outcome }) => outcome === "failed").length,
      count: latencies.length,
      avg_ms: latencies.length === 0 ? null : Math.round((sum / latencies.length) * 10) / 10,
      min_ms: latencies[0] ?? null,
      max_ms: latencies.at(-1) ?? null,
    },
    quantile: (part: number) => latencies[Math.floor(part * (latencies.length - 1))] ?? null,
  };
}

type Line = Record<string, number> & { id: string; from: string; to: string };

function expectRecounted(results: readonly CheckRow[], line: Line) {
  const { exact, quantile } = recount(results, line);
  expect(line).toMatchObject(exact);
  for (const part of [0.5, 0.9, 0.95, 0.99]) {
    const reported = line[`p${Math.round(part * 100)}_ms`] ?? Number.NaN;
    const real = quantile(part) ?? Number.NaN;
    // Within 2 %, and half a millisecond for rounding.
    expect(Math.abs(reported - real)).toBeLessThanOrEqual(real * 0.02 + 0.5);
  }
}

describe("latency", () => {
  test("latency equals a recount of the results, rolled up or not, by hour and in total", async () => {
    await using site = await createAnalyticsSite();
    const { shop, search } = await watched(site);
    for (const { row, results } of [shop, search]) {
      const from = "from=2026-03-10T12:00:00Z";
      const hours = (await site.read(`latency?monitor=${row.id}&${from}&interval=hour`)).body;
      expect(hours.data).toHaveLength(HOURS);
      for (const line of hours.data) expectRecounted(results, line);
      expect(hours.data[0].count).toBe(51);
      const whole = (await site.read(`latency?monitor=${row.id}`)).body;
      expect(whole.data).toHaveLength(1);
      expectRecounted(results, whole.data[0]);
      const { from: begin, to } = hours;
      for (const { total } of [hours, whole])
        expectRecounted(results, { ...total, from: begin, to });
    }
  });

  test("latency of a component or page is that of each of its monitors and of all together", async () => {
    await using site = await createAnalyticsSite();
    const { shop, search } = await watched(site);
    const ids = (data: Line[]) => data.map(({ id }) => id);
    const { API = "", Website = "" } = site.components;
    const page = (await site.read("latency?page=acme")).body;
    expect(ids(page.data)).toEqual([shop.row.id, search.row.id]);
    const { from, to } = page;
    expectRecounted([...shop.results, ...search.results], { ...page.total, from, to });
    expect(ids((await site.read(`latency?component=${API}`)).body.data)).toHaveLength(2);
    expect(ids((await site.read(`latency?component=${Website}`)).body.data)).toEqual([shop.row.id]);
    expect(ids((await site.read("latency")).body.data)).toHaveLength(3);
  });

  test("latency is null without a response", async () => {
    await using site = await createAnalyticsSite();
    const { body } = await site.read("latency?page=acme");
    expect(body.data).toEqual([]);
    expect(body.total).toMatchObject({ checks: 0, count: 0, avg_ms: null, p50_ms: null });
  });

  test("latency is limited to twenty monitors", async () => {
    await using site = await createAnalyticsSite();
    const { API = "" } = site.components;
    const add = () =>
      site.app.ctx.db.write((tx) => {
        const one = { name: "One of many", componentIds: [API], createdAt: TEST_START };
        addMonitor(site.app.ctx, tx, one);
      });
    for (let i = 0; i < 20; i++) await add();
    expect((await site.read("latency?page=acme")).body.data).toHaveLength(20);
    await add();
    for (const path of ["latency?page=acme", "latency", `latency?component=${API}`]) {
      await site.expectRejected(path, "monitor");
    }
  });
});
