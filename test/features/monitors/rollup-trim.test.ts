import { expect, test } from "bun:test";
import { ofMonitors } from "../../../src/features/monitors/checks-store";
import { rollUp } from "../../../src/features/monitors/rollup";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { check, openMonitorStore } from "../../support/monitor-store";

/** Time after an hour until its results are rolled up. */
const ROLL_UP_DELAY_MS = 5 * MINUTE_MS;

const MIDNIGHT = Date.parse("2026-03-10T00:00:00Z");
const KEPT = { resultsMs: 2 * HOUR_MS, minutesMs: 7 * DAY_MS, hoursMs: 400 * DAY_MS };

test("results of a job with one heartbeat per second are deleted on time", async () => {
  using store = openMonitorStore();
  const { num } = await store.monitor({ createdAt: MIDNIGHT });
  for (let hour = 0; hour < 6; hour++) {
    const from = MIDNIGHT + hour * HOUR_MS;
    const calls = Array.from({ length: 3_600 }, (_, i) => check(num, from + i * SECOND_MS, 5));
    await store.record(...calls);
    const now = from + HOUR_MS + ROLL_UP_DELAY_MS;
    while (await store.ctx.db.write((tx) => rollUp(tx, { now }, KEPT))) {
      /* until nothing is left */
    }
  }
  const before = Number.MAX_SAFE_INTEGER;
  const left = ofMonitors.listChecksBefore(store.ctx.db, {
    monitorNum: num,
    before,
    limit: 100_000,
  });
  expect(left).toHaveLength(2 * 3_600);
  expect(left.at(-1)?.at).toBe(MIDNIGHT + 4 * HOUR_MS);
});
