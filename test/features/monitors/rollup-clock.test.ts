import { describe, expect, test } from "bun:test";
import { startRollUps } from "../../../src/features/monitors/rollup";
import { findMonitorState } from "../../../src/features/monitors/store";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { settle, TEST_START } from "../../support/clock";
import { check, type MonitorStore, openMonitorStore } from "../../support/monitor-store";

const ALL_WRITTEN = { oldestUnwritten: () => undefined };

function rolledHours(store: MonitorStore): number {
  const sql = "SELECT count(*) AS rows FROM monitor_rollups WHERE size = 3600000";
  return store.sqlite.query<{ rows: number }, []>(sql).get()?.rows ?? 0;
}

describe("rollups while the server runs", () => {
  test("a started server rolls up old results in parts", async () => {
    using store = openMonitorStore();
    for (let i = 0; i < 120; i++) {
      const { num } = await store.monitor({ createdAt: TEST_START - 3 * HOUR_MS });
      await store.record(check(num, TEST_START - 3 * HOUR_MS + 1, 10));
    }
    const rollUps = startRollUps(store.ctx, ALL_WRITTEN);
    await store.clock.advance(0);
    await settle();
    expect(rolledHours(store)).toBeGreaterThan(0);
    expect(rolledHours(store)).toBeLessThan(120);
    await store.clock.advance(SECOND_MS);
    expect(rolledHours(store)).toBe(120);
    rollUps.cancel();
  });

  test("an hour is rolled up some minutes after its end, once all its results are written", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor();
    await store.record(check(num, TEST_START + 1, 10));
    let oldest: number | undefined;
    const rollUps = startRollUps(store.ctx, { oldestUnwritten: () => oldest });
    await store.clock.advance(HOUR_MS + 4 * MINUTE_MS);
    expect(rolledHours(store)).toBe(0);
    oldest = TEST_START + HOUR_MS - 1;
    await store.clock.advance(10 * MINUTE_MS);
    expect(rolledHours(store)).toBe(0);
    oldest = undefined;
    await store.clock.advance(MINUTE_MS);
    expect(rolledHours(store)).toBe(1);
    rollUps.cancel();
    await store.record(check(num, TEST_START + HOUR_MS + 1, 10));
    await store.clock.advance(2 * HOUR_MS);
    expect(rolledHours(store)).toBe(1);
  });

  test("rollups are retried while the database fails, and that is logged once", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor();
    const { db } = store.ctx;
    const { write } = db;
    const rollUps = startRollUps(store.ctx, ALL_WRITTEN);
    db.write = () => Promise.reject(new Error("full"));
    await store.clock.advance(2 * HOUR_MS);
    db.write = write;
    expect(findMonitorState(db, { monitorNum: num })?.rolledUntil).toBe(TEST_START);
    await store.clock.advance(MINUTE_MS);
    expect(findMonitorState(db, { monitorNum: num })?.rolledUntil).toBe(TEST_START + HOUR_MS);
    const warnings = store.logged.filter(({ msg }) => msg === "results wait to be rolled up");
    expect(warnings).toHaveLength(1);
    rollUps.cancel();
  });
});
