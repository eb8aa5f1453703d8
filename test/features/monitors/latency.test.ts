import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Reader } from "../../../src/db/statements";
import {
  type LatencyFigures,
  latencyOfEach,
  piecesOf,
} from "../../../src/features/monitors/latency";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { check, type MonitorStore, openMonitorStore } from "../../support/monitor-store";
import { rollUpAll } from "../../support/rollups";

/** Error of a quantile that docs state. */
const RELATIVE_ERROR = 0.02;

const MIDNIGHT = Date.parse("2026-03-10T00:00:00Z");
const NONE = {
  checks: 0,
  failures: 0,
  count: 0,
  avgMs: null,
  minMs: null,
  maxMs: null,
  p50Ms: null,
  p90Ms: null,
  p95Ms: null,
  p99Ms: null,
};

/** The latency of the check at a moment; null for one in a while. */
function latencyAt(num: number, at: number): number | null {
  const second = at / 1_000;
  return second % 31 === 0 ? null : 15 + ((second * 7 + num * 13) % 400);
}

/** Two monitors that were checked every 30 seconds from midnight until `until`. */
async function scheduled(store: MonitorStore, until: number): Promise<number[]> {
  const nums: number[] = [];
  for (let i = 0; i < 2; i++) {
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    const times = Array.from(
      { length: (until - MIDNIGHT) / 30_000 },
      (_, n) => MIDNIGHT + n * 30_000,
    );
    await store.record(...times.map((at) => check(num, at, latencyAt(num, at))));
    nums.push(num);
  }
  return nums;
}

function latencyOf(
  reader: Reader,
  nums: readonly number[],
  span: { from: number; to: number },
): LatencyFigures {
  return latencyOfEach(reader, nums, [span]).total;
}

/** Expects the latency of these monitors to equal a recount of their checks in a span. */
function expectCounted(figures: LatencyFigures, nums: readonly number[], from: number, to: number) {
  const all: (number | null)[] = [];
  for (const num of nums) {
    for (let at = Math.ceil(from / 30_000) * 30_000; at < to; at += 30_000)
      all.push(latencyAt(num, at));
  }
  const sorted = all.filter((value) => value !== null).sort((a, b) => a - b);
  const exact = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN;
  const avg = sorted.reduce((a, b) => a + b, 0) / sorted.length;
  expect(figures).toMatchObject({
    checks: all.length,
    failures: all.length - sorted.length,
    count: sorted.length,
    avgMs: Math.round(avg * 10) / 10,
    minMs: sorted[0] ?? null,
    maxMs: sorted.at(-1) ?? null,
  });
  const quantiles = [
    [0.5, figures.p50Ms],
    [0.9, figures.p90Ms],
    [0.95, figures.p95Ms],
    [0.99, figures.p99Ms],
  ] as const;
  for (const [part, value] of quantiles) {
    // Half a millisecond for the rounding to whole ones.
    expect(Math.abs((value ?? Number.NaN) - exact(part))).toBeLessThanOrEqual(
      exact(part) * RELATIVE_ERROR + 0.5,
    );
  }
}

describe("the latency of a span", () => {
  test("the latency of a span equals that of its checks, before and after rollups", async () => {
    using store = openMonitorStore();
    const end = MIDNIGHT + 30 * HOUR_MS;
    const nums = await scheduled(store, end);
    const spans = fc
      .tuple(fc.integer({ min: 0, max: 29 * 60 }), fc.integer({ min: 1, max: 26 * 60 }))
      .map(([start, length]) => ({
        from: MIDNIGHT + start * MINUTE_MS,
        to: Math.min(end, MIDNIGHT + (start + length) * MINUTE_MS),
      }));
    const prop = fc.property(spans, fc.constantFrom(nums, nums.slice(1)), (span, own) => {
      expectCounted(latencyOf(store.ctx.db, own, span), own, span.from, span.to);
    });
    fc.assert(prop, { numRuns: 15 });
    for (const hour of [3, 24, 25, 30]) {
      await rollUpAll(store, MIDNIGHT + hour * HOUR_MS + 10 * MINUTE_MS);
      fc.assert(prop, { numRuns: 15 });
    }
  });

  test("the latency of a span is known after its results are deleted", async () => {
    using store = openMonitorStore();
    const nums = await scheduled(store, MIDNIGHT + 30 * HOUR_MS);
    const day = { from: MIDNIGHT, to: MIDNIGHT + DAY_MS };
    const hour = { from: MIDNIGHT + 7 * HOUR_MS, to: MIDNIGHT + 8 * HOUR_MS };
    await rollUpAll(store, MIDNIGHT + 20 * DAY_MS);
    expect(store.sqlite.query("SELECT count(*) AS rows FROM monitor_checks").get()).toEqual({
      rows: 0,
    });
    expectCounted(latencyOf(store.ctx.db, nums, day), nums, day.from, day.to);
    expectCounted(latencyOf(store.ctx.db, nums, hour), nums, hour.from, hour.to);
    // Minutes are gone: whole hours within the span are what is left to count by.
    const askew = { from: hour.from - 20 * MINUTE_MS, to: hour.to + 20 * MINUTE_MS };
    expectCounted(latencyOf(store.ctx.db, nums, askew), nums, hour.from, hour.to);
  });

  test("the latency of a span without checks is empty", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record({ ...check(num, MIDNIGHT + 5, null), outcome: "unknown" });
    const span = { from: MIDNIGHT, to: MIDNIGHT + HOUR_MS };
    expect(latencyOf(store.ctx.db, [num], span)).toEqual(NONE);
    expect(latencyOf(store.ctx.db, [], span)).toEqual(NONE);
    expect(latencyOfEach(store.ctx.db, [num], [])).toEqual({ each: [[]], total: NONE });
  });

  test("the latency of a span without responses counts its checks and failures", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record(check(num, MIDNIGHT + 5, null), check(num, MIDNIGHT + 65_000, null));
    const figures = { ...NONE, checks: 2, failures: 2 };
    const span = { from: MIDNIGHT, to: MIDNIGHT + HOUR_MS };
    expect(latencyOf(store.ctx.db, [num], span)).toEqual(figures);
    await rollUpAll(store, MIDNIGHT + 2 * HOUR_MS);
    expect(latencyOf(store.ctx.db, [num], span)).toEqual(figures);
  });

  test("quantiles of a span stay within the measured range", async () => {
    using store = openMonitorStore();
    const { num } = await store.monitor({ createdAt: MIDNIGHT });
    await store.record(check(num, MIDNIGHT, 1_000));
    const figures = latencyOf(store.ctx.db, [num], { from: MIDNIGHT, to: MIDNIGHT + 1 });
    expect(figures).toMatchObject({ minMs: 1_000, p50Ms: 1_000, p99Ms: 1_000, maxMs: 1_000 });
  });
});

describe("the latency of intervals", () => {
  test.each([
    ["minutes", MINUTE_MS, MIDNIGHT + 23 * HOUR_MS, MIDNIGHT + 25 * HOUR_MS],
    ["hours", HOUR_MS, MIDNIGHT + 3.5 * HOUR_MS, MIDNIGHT + 27.25 * HOUR_MS],
    ["days", DAY_MS, MIDNIGHT + HOUR_MS, MIDNIGHT + 29.5 * HOUR_MS],
    ["no size of rollups", 90_000, MIDNIGHT + 28.5 * HOUR_MS, MIDNIGHT + 29 * HOUR_MS],
  ])("the latency of intervals of %s equals that of each interval", async (_, size, from, to) => {
    using store = openMonitorStore();
    const nums = await scheduled(store, MIDNIGHT + 30 * HOUR_MS);
    await rollUpAll(store, MIDNIGHT + 28.5 * HOUR_MS);
    const intervals: { from: number; to: number }[] = [];
    for (let at = from; at < to;) {
      const next = Math.min(to, (Math.floor(at / size) + 1) * size);
      intervals.push({ from: at, to: next });
      at = next;
    }
    const { each } = latencyOfEach(store.ctx.db, nums, intervals);
    for (const [heapIndex, num] of nums.entries()) {
      expect(each[heapIndex]).toHaveLength(intervals.length);
      for (const [index, interval] of intervals.entries()) {
        expectCounted(each[heapIndex]?.[index] ?? NONE, [num], interval.from, interval.to);
      }
    }
  });
});

describe("a span in rollups", () => {
  test("a span is divided into the largest rollups within it and smaller ones at its ends", () => {
    const sizes = [DAY_MS, HOUR_MS, MINUTE_MS];
    const from = MIDNIGHT - 90 * MINUTE_MS;
    const to = MIDNIGHT + 3 * DAY_MS + 61 * MINUTE_MS;
    const pieces = piecesOf({ from, to }, to, sizes);
    expect(pieces.map(({ size, ...piece }) => [size, piece.from, piece.to])).toEqual([
      [MINUTE_MS, from, MIDNIGHT - HOUR_MS],
      [HOUR_MS, MIDNIGHT - HOUR_MS, MIDNIGHT],
      [DAY_MS, MIDNIGHT, MIDNIGHT + 3 * DAY_MS],
      [HOUR_MS, MIDNIGHT + 3 * DAY_MS, to - MINUTE_MS],
      [MINUTE_MS, to - MINUTE_MS, to],
    ]);
    // A day that is not rolled up yet is read from its hours.
    expect(piecesOf({ from: MIDNIGHT, to: MIDNIGHT + DAY_MS }, MIDNIGHT + 1, sizes)).toEqual([
      { size: HOUR_MS, from: MIDNIGHT, to: MIDNIGHT + DAY_MS },
    ]);
  });
});
