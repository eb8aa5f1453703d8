import { expect, test } from "bun:test";
import fc from "fast-check";
import { MONITOR_STATES } from "../../../src/base/status";
import { insertSpan, listSpans, sumTimes } from "../../../src/features/monitors/spans-store";
import { timesByState } from "../../../src/features/monitors/uptime";
import { openMonitorStore } from "../../support/monitor-store";

/** Spans with gaps, overlaps and open ends in any place, oldest first. */
const timeline = fc.uniqueArray(
  fc.record({
    startedAt: fc.integer({ min: 0, max: 60 }),
    length: fc.option(fc.integer({ min: -2, max: 15 })),
    state: fc.constantFrom(...MONITOR_STATES),
  }),
  { maxLength: 10, selector: ({ startedAt }) => startedAt },
);

test("times that SQLite sums equal those of the listed spans, for every kind of timeline", async () => {
  using store = openMonitorStore();
  const nums: number[] = [];
  for (let n = 0; n < 40; n++) nums.push((await store.monitor({ createdAt: 0 })).num);
  store.sqlite.run("DELETE FROM monitor_spans");
  const timelines = fc.sample(timeline, { numRuns: nums.length, seed: 7 });
  await store.ctx.db.write((tx) => {
    for (const [index, spans] of timelines.entries()) {
      for (const { startedAt, length, state } of spans) {
        const endedAt = length === null ? null : startedAt + length;
        insertSpan(tx, { monitorNum: nums[index] ?? 0, startedAt, endedAt, state, message: null });
      }
    }
  });
  let known = 0;
  const within = fc.tuple(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 40 }));
  for (const [from, length] of fc.sample(within, { numRuns: 100, seed: 8 })) {
    const span = { from, to: from + length };
    const query = { nums: JSON.stringify(nums.toReversed()), ...span };
    const rows = Map.groupBy(listSpans(store.ctx.db, query), ({ row }) => row.monitorNum);
    const sums = new Map(sumTimes(store.ctx.db, query).map(({ num, ...sum }) => [num, sum]));
    for (const num of nums) {
      const listed = (rows.get(num) ?? []).map(({ row }) => row);
      const { up, degraded, down, maintenance } = timesByState(listed, span);
      const none = { up: 0, degraded: 0, down: 0, maintenance: 0 };
      expect(sums.get(num) ?? none).toEqual({ up, degraded, down, maintenance });
      known += up + degraded + down;
    }
  }
  expect(known).toBeGreaterThan(0);
});
