import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { selectMany } from "../../../src/db/statements";
import { monitorChecks } from "../../../src/db/tables/monitors";
import type { CheckRow } from "../../../src/features/monitors/checks-store";
import { rollUp } from "../../../src/features/monitors/rollup";
import { findMonitorState } from "../../../src/features/monitors/store";
import { quantileOf, sketchFromBytes } from "../../../src/base/sketch";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { check, openMonitorStore } from "../../support/monitor-store";
import { KEPT, listRollupRows, recounted, rolledUp, rollUpAll } from "../../support/rollups";
import { temporaryFolder } from "../../support/temporary-folder";

/** Error of a quantile that docs state. */
const RELATIVE_ERROR = 0.02;
/** Time after an hour until its results are rolled up. */
const ROLL_UP_DELAY_MS = 5 * MINUTE_MS;

const MIDNIGHT = Date.parse("2026-03-10T00:00:00Z");

const listResults = selectMany((orm, $: { num: number }) =>
  orm
    .select()
    .from(monitorChecks)
    .where(eq(monitorChecks.monitorNum, $.num))
    .orderBy(asc(monitorChecks.at)),
);
/** Checks with different latencies: successes, failures with and without a response, and unknown results. */
function results(num: number, from: number, to: number, everyMs: number): CheckRow[] {
  const rows: CheckRow[] = [];
  for (let at = from; at < to; at += everyMs) {
    const latencyMs = 20 + ((at / 1_000) % 97) * 11;
    const kind = (at / everyMs) % 23;
    if (kind === 5) rows.push(check(num, at, null));
    else if (kind === 7) rows.push({ ...check(num, at, latencyMs), outcome: "failed" });
    else if (kind === 11) rows.push({ ...check(num, at, null), outcome: "unknown" });
    else rows.push(check(num, at, latencyMs));
  }
  return rows;
}

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

describe.each([
  ["in memory", ":memory:"],
  ["in a file", join(folder.path, "rollups.db")],
])("rolling up, %s,", (_, path) => {
  test("rollups of minutes, hours and days equal a recount of the results", async () => {
    using store = openMonitorStore(path);
    const { num } = await store.monitor({ createdAt: MIDNIGHT + 6 * HOUR_MS });
    const rows = results(num, MIDNIGHT + 6.3 * HOUR_MS, MIDNIGHT + 29 * HOUR_MS, 20_000);
    await store.record(...rows);
    await rollUpAll(store, MIDNIGHT + 29 * HOUR_MS + ROLL_UP_DELAY_MS);
    expect(rolledUp(store.ctx.db, num, MINUTE_MS)).toEqual(recounted(rows, MINUTE_MS));
    expect(rolledUp(store.ctx.db, num, HOUR_MS)).toEqual(recounted(rows, HOUR_MS));
    const firstDay = rows.filter(({ at }) => at < MIDNIGHT + DAY_MS);
    expect(rolledUp(store.ctx.db, num, DAY_MS)).toEqual(recounted(firstDay, DAY_MS));

    const day = listRollupRows(store.ctx.db, { num }).find(({ size }) => size === DAY_MS);
    const latencies = firstDay.flatMap(({ outcome, latencyMs }) =>
      outcome === "unknown" || latencyMs === null ? [] : [latencyMs],
    );
    latencies.sort((a, b) => a - b);
    const median = latencies[Math.floor((latencies.length - 1) / 2)] ?? Number.NaN;
    const p50 = quantileOf(sketchFromBytes(day?.sketch ?? Buffer.of()), 0.5) ?? Number.NaN;
    expect(Math.abs(p50 - median)).toBeLessThanOrEqual(median * RELATIVE_ERROR * 1.0001);
  });
});

describe("rollups of an hour", () => {
  test("an hour is rolled up after its end, the delay and its last unwritten result", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record(...results(num, MIDNIGHT, MIDNIGHT + HOUR_MS, MINUTE_MS));
    const end = MIDNIGHT + HOUR_MS;
    await rollUpAll(store, end + ROLL_UP_DELAY_MS - 1);
    expect(rolledUp(store.ctx.db, num, HOUR_MS)).toEqual([]);
    await rollUpAll(store, end + ROLL_UP_DELAY_MS, end - 1);
    expect(rolledUp(store.ctx.db, num, HOUR_MS)).toEqual([]);
    await rollUpAll(store, end + ROLL_UP_DELAY_MS);
    expect(rolledUp(store.ctx.db, num, HOUR_MS)).toHaveLength(1);
    expect(findMonitorState(store.ctx.db, { monitorNum: num })?.rolledUntil).toBe(end);
  });

  test("an hour with unknown results only has no rollup", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record({ ...check(num, MIDNIGHT + 1, null), outcome: "unknown" });
    await rollUpAll(store, MIDNIGHT + 2 * HOUR_MS);
    expect(listRollupRows(store.ctx.db, { num })).toEqual([]);
  });

  test("an hour is rolled up again after the clock was set back before it", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record(check(num, MIDNIGHT + 60_000, 100));
    await rollUpAll(store, MIDNIGHT + DAY_MS);
    const back = MIDNIGHT + 30 * MINUTE_MS;
    await rollUpAll(store, back);
    expect(findMonitorState(store.ctx.db, { monitorNum: num })?.rolledUntil).toBe(MIDNIGHT);
    await store.record(check(num, back, 300));
    await rollUpAll(store, MIDNIGHT + 2 * HOUR_MS);
    expect(rolledUp(store.ctx.db, num, HOUR_MS)).toEqual([
      {
        at: MIDNIGHT,
        checks: 2,
        failures: 0,
        answers: 2,
        latencySum: 400,
        latencyMin: 100,
        latencyMax: 300,
      },
    ]);
  });
});

describe("rollups after a stop", () => {
  test("old results and their days are rolled up after a long stop", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    const before = results(num, MIDNIGHT, MIDNIGHT + 3 * HOUR_MS, MINUTE_MS);
    const after = results(num, MIDNIGHT + 90 * DAY_MS, MIDNIGHT + 90 * DAY_MS + HOUR_MS, MINUTE_MS);
    await store.record(...before, ...after);
    const calls = await rollUpAll(store, MIDNIGHT + 90 * DAY_MS + 2 * HOUR_MS);
    expect(calls).toBeLessThan(5);
    const all = [...before, ...after];
    expect(rolledUp(store.ctx.db, num, HOUR_MS)).toEqual(recounted(all, HOUR_MS));
    expect(rolledUp(store.ctx.db, num, DAY_MS)).toEqual(recounted(before, DAY_MS));
  });

  test("one call of rollUp does a limited amount of work and returns true if there is more", async () => {
    using store = openMonitorStore();
    const monitors = await Promise.all(
      Array.from({ length: 4 }, () => store.monitor({ createdAt: MIDNIGHT })),
    );
    for (const { num } of monitors) {
      await store.record(...results(num, MIDNIGHT, MIDNIGHT + 5 * HOUR_MS, 5_000));
    }
    const now = MIDNIGHT + 6 * HOUR_MS;
    const rows = () => monitors.flatMap(({ num }) => rolledUp(store.ctx.db, num, HOUR_MS)).length;
    expect(await store.ctx.db.write((tx) => rollUp(tx, { now }, KEPT))).toBe(true);
    expect(rows()).toBeGreaterThan(0);
    expect(rows()).toBeLessThan(5);
    await rollUpAll(store, now);
    expect(rows()).toBe(20);
  });

  test("rollUp needs several calls for many monitors without results", async () => {
    using store = openMonitorStore();
    for (let i = 0; i < 120; i++) await store.monitor({ createdAt: MIDNIGHT });
    expect(await rollUpAll(store, MIDNIGHT + 2 * HOUR_MS)).toBe(3);
  });
});

describe("retention of results and rollups", () => {
  test("expired results, minutes and hours are deleted with the next rollup, and days are kept", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record(...results(num, MIDNIGHT, MIDNIGHT + 2 * HOUR_MS, MINUTE_MS));
    const left = () => {
      const rows = listRollupRows(store.ctx.db, { num });
      const sizes = [MINUTE_MS, HOUR_MS, DAY_MS];
      const rolled = sizes.map((size) => rows.filter((row) => row.size === size).length);
      return [listResults(store.ctx.db, { num }).length, ...rolled];
    };
    const at = (afterMs: number) => rollUpAll(store, MIDNIGHT + afterMs);
    // Every 23rd result says nothing; each of the others is its minute.
    const minutes = recounted(listResults(store.ctx.db, { num }), MINUTE_MS).length;
    await at(49 * HOUR_MS - MINUTE_MS);
    expect(left()).toEqual([120, minutes, 2, 1]);
    await at(49 * HOUR_MS + ROLL_UP_DELAY_MS);
    expect(left()).toEqual([60, minutes, 2, 1]);
    await at(50 * HOUR_MS + ROLL_UP_DELAY_MS);
    expect(left()).toEqual([0, minutes, 2, 1]);
    await at(7 * DAY_MS + 3 * HOUR_MS);
    expect(left()).toEqual([0, 0, 2, 1]);
    await at(400 * DAY_MS + 23 * HOUR_MS);
    expect(left()).toEqual([0, 0, 2, 1]);
    await at(401 * DAY_MS + HOUR_MS);
    expect(left()).toEqual([0, 0, 0, 1]);
  });

  test("deletion affects one monitor only and keeps results that are not rolled up", async () => {
    using store = openMonitorStore();
    const [old, young] = [
      await store.monitor({ createdAt: MIDNIGHT }),
      await store.monitor({ createdAt: MIDNIGHT }),
    ];
    await store.record(check(old.num, MIDNIGHT, 10), check(young.num, MIDNIGHT + 80 * HOUR_MS, 10));
    await rollUpAll(store, MIDNIGHT + 90 * HOUR_MS, MIDNIGHT);
    expect(listResults(store.ctx.db, { num: old.num })).toHaveLength(1);
    await rollUpAll(store, MIDNIGHT + 90 * HOUR_MS);
    expect(listResults(store.ctx.db, { num: old.num })).toEqual([]);
    expect(listResults(store.ctx.db, { num: young.num })).toHaveLength(1);
  });

  test("many expired results are deleted in parts of at most 2,000", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record(...results(num, MIDNIGHT, MIDNIGHT + 8 * HOUR_MS, 5_000));
    const now = MIDNIGHT + 60 * HOUR_MS;
    const left = () => listResults(store.ctx.db, { num }).length;
    const before = left();
    await store.ctx.db.write((tx) => rollUp(tx, { now }, KEPT));
    expect(before - left()).toBeGreaterThan(0);
    expect(before - left()).toBeLessThanOrEqual(2_000);
    await rollUpAll(store, now);
    for (let hour = 1; left() > 0 && hour < 9; hour++) await rollUpAll(store, now + hour * HOUR_MS);
    expect(left()).toBe(0);
  });
});
