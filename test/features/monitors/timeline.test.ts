import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listSpans } from "../../../src/features/monitors/spans-store";
import { recordState } from "../../../src/features/monitors/engine/transitions";
import { MONITOR_STATES, type MonitorState } from "../../../src/base/status";
import { openMonitorStore } from "../../support/monitor-store";

const BEGIN = 1_000_000;

describe("the timeline of a monitor", () => {
  test("the timeline of a monitor has no gap, overlap or empty span for any order of times", async () => {
    using store = openMonitorStore();
    const entries = fc.array(
      fc.record({
        state: fc.constantFrom(...MONITOR_STATES),
        at: fc.integer({ min: -5, max: 40 }),
      }),
      { maxLength: 15 },
    );
    await fc.assert(
      fc.asyncProperty(entries, async (entered) => {
        const { num } = await store.monitor({ createdAt: BEGIN });
        await store.ctx.db.write((tx) => {
          for (const { state, at } of entered) {
            recordState(tx, { monitorNum: num, state, at: BEGIN + at, message: null });
          }
        });
        const spans = listSpans(store.ctx.db, { nums: `[${num}]`, from: 0, to: 2 * BEGIN }).map(
          ({ row }) => row,
        );
        expect(spans[0]?.startedAt).toBe(BEGIN);
        expect(spans.at(-1)?.endedAt).toBeNull();
        expect(spans.at(-1)?.state).toBe(entered.at(-1)?.state ?? "pending");
        for (const [index, { startedAt, endedAt }] of spans.slice(0, -1).entries()) {
          expect(endedAt).toBeGreaterThan(startedAt);
          expect(spans[index + 1]?.startedAt).toBe(endedAt ?? Number.NaN);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("the timeline of a monitor keeps the first message of a state that continues", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: BEGIN });
    const enter = (state: MonitorState, at: number, message: string | null = null) =>
      store.ctx.db.write((tx) =>
        recordState(tx, { monitorNum: num, state, at: BEGIN + at, message }),
      );
    await enter("up", 10);
    await enter("down", 20, "nothing answered");
    await enter("down", 30, "refused");
    const spans = listSpans(store.ctx.db, { nums: `[${num}]`, from: BEGIN + 15, to: BEGIN + 99 });
    expect(spans.map(({ row }) => row)).toEqual([
      { monitorNum: num, startedAt: BEGIN + 10, endedAt: BEGIN + 20, state: "up", message: null },
      {
        monitorNum: num,
        startedAt: BEGIN + 20,
        endedAt: null,
        state: "down",
        message: "nothing answered",
      },
    ]);
  });

  test("listSpans returns all spans that overlap a time range", async () => {
    using store = openMonitorStore();
    const [first, second] = [await store.monitor({ createdAt: BEGIN }), await store.monitor()];
    await store.ctx.db.write((tx) => {
      for (const [index, state] of (["up", "down", "up"] as const).entries()) {
        recordState(tx, {
          monitorNum: first.num,
          state,
          at: BEGIN + index * 10 + 10,
          message: null,
        });
      }
    });
    const between = (from: number, to: number) =>
      listSpans(store.ctx.db, {
        nums: JSON.stringify([second.num, first.num]),
        from: BEGIN + from,
        to: BEGIN + to,
      }).map(({ row }) => [row.monitorNum, row.startedAt - BEGIN]);
    expect(between(-9, 0)).toEqual([]);
    expect(between(-9, 11)).toEqual([
      [first.num, 0],
      [first.num, 10],
    ]);
    expect(between(15, 16)).toEqual([[first.num, 10]]);
    expect(between(20, 25)).toEqual([[first.num, 20]]);
    expect(between(500, 501)).toEqual([[first.num, 30]]);
  });
});
