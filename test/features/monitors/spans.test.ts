import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addTimes,
  type StateSpan,
  timesByInterval,
  timesByState,
  troublesOf,
  uptimeOf,
} from "../../../src/features/monitors/uptime";
import { MONITOR_STATES, type MonitorState } from "../../../src/base/status";

const END = 60;

/** A timeline without gaps from somewhere on, its last span open. */
const timelines = fc
  .tuple(
    fc.integer({ min: 0, max: 20 }),
    fc.array(fc.tuple(fc.constantFrom(...MONITOR_STATES), fc.integer({ min: 1, max: 12 })), {
      maxLength: 12,
    }),
  )
  .map(([start, parts]) => {
    let at = start;
    return parts.map(([state, length], index): StateSpan => {
      const startedAt = at;
      at += length;
      const endedAt = index === parts.length - 1 ? null : at;
      return { state, startedAt, endedAt, message: null };
    });
  });

/** Intervals that follow one another, from somewhere on. */
const intervalLists = fc
  .tuple(
    fc.integer({ min: 0, max: 30 }),
    fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 6 }),
  )
  .map(([start, lengths]) => {
    let from = start;
    return lengths.map((length) => {
      const interval = { from, to: from + length };
      from = interval.to;
      return interval;
    });
  });

/** The state at each millisecond, looked up by itself. */
function stateAt(spans: readonly StateSpan[], at: number): MonitorState | undefined {
  return spans.find(({ startedAt, endedAt }) => startedAt <= at && at < (endedAt ?? Infinity))
    ?.state;
}

function counted(spans: readonly StateSpan[], from: number, to: number) {
  const times = Object.fromEntries(MONITOR_STATES.map((state) => [state, 0]));
  for (let at = from; at < to; at++) {
    const state = stateAt(spans, at);
    if (state) times[state] = (times[state] ?? 0) + 1;
  }
  return times as Record<MonitorState, number>;
}

describe("the times of a monitor's states", () => {
  test("the times of states equal a count of all milliseconds in each interval", () => {
    fc.assert(
      fc.property(timelines, intervalLists, (spans, intervals) => {
        const result = timesByInterval(spans, intervals);
        expect(result).toEqual(intervals.map(({ from, to }) => counted(spans, from, to)));
      }),
    );
  });

  test("the times of states of a span are the sum of those of its parts", () => {
    fc.assert(
      fc.property(timelines, fc.integer({ min: 0, max: END }), (spans, cut) => {
        const parts = [
          timesByState(spans, { from: 0, to: cut }),
          timesByState(spans, { from: cut, to: END }),
        ];
        expect(addTimes(parts)).toEqual(timesByState(spans, { from: 0, to: END }));
      }),
    );
  });
});

describe("a monitor's uptime", () => {
  test("a monitor's uptime is 1 minus the down share of the known time, rounded down", () => {
    fc.assert(
      fc.property(timelines, (spans) => {
        const times = counted(spans, 0, END);
        const known = times.up + times.degraded + times.down;
        const result = uptimeOf(timesByState(spans, { from: 0, to: END }));
        if (known === 0) {
          expect(result).toBeNull();
          return;
        }
        const exact = (known - times.down) / known;
        expect(result).toBeLessThanOrEqual(exact + 1e-12);
        expect(result).toBeGreaterThan(exact - 1e-6);
      }),
    );
  });

  test("a monitor's uptime excludes pending, paused, maintenance and no_data", () => {
    const spans = (["pending", "paused", "maintenance", "no_data"] as const).map(
      (state, index) => ({
        state,
        startedAt: index * 10,
        endedAt: index * 10 + 10,
        message: null,
      }),
    );
    expect(uptimeOf(timesByState(spans, { from: 0, to: 40 }))).toBeNull();
    const up = { state: "up", startedAt: 40, endedAt: 49, message: null } as const;
    const down = { state: "down", startedAt: 49, endedAt: 50, message: null } as const;
    expect(uptimeOf(timesByState([...spans, up, down], { from: 0, to: 50 }))).toBe(0.9);
  });

  test("a monitor's uptime shows a second of outage in a year and is exact for whole percents", () => {
    const year = 365 * 86_400_000;
    const times = { ...timesByState([], { from: 0, to: 0 }), up: year - 1_000, down: 1_000 };
    expect(uptimeOf(times)).toBe(0.999999);
    for (let percent = 0; percent <= 100; percent++) {
      expect(uptimeOf({ ...times, up: percent, down: 100 - percent })).toBe(percent / 100);
    }
  });
});

describe("outages", () => {
  const within = { from: 100, to: 200 };
  const down = (startedAt: number, endedAt: number | null, message: string | null = null) =>
    ({ state: "down", startedAt, endedAt, message }) as const;

  test("outages of a span include those that overlap it, with their full times", () => {
    const spans = [down(10, 100), down(105, 110, "refused"), down(190, 230), down(300, 310)];
    expect(troublesOf(spans, within, 400)).toEqual([
      { state: "down", startedAt: 105, endedAt: 110, durationMs: 5, message: "refused" },
      { state: "down", startedAt: 190, endedAt: 230, durationMs: 40, message: null },
    ]);
  });

  test("an open outage lasts until now", () => {
    expect(troublesOf([down(150, null)], within, 180)).toEqual([
      { state: "down", startedAt: 150, endedAt: null, durationMs: 30, message: null },
    ]);
  });

  test("adjacent outages are one, with the first reason", () => {
    const result = troublesOf(
      [down(120, 130, "refused"), down(130, null, "timed out")],
      within,
      140,
    );
    expect(result).toEqual([
      { state: "down", startedAt: 120, endedAt: null, durationMs: 20, message: "refused" },
    ]);
  });

  test("the total of outages equals the time in which the monitor was down", () => {
    fc.assert(
      fc.property(timelines, (spans) => {
        const total = troublesOf(spans, { from: 0, to: END }, END)
          .filter(({ state, startedAt }) => state === "down" && startedAt < END)
          .reduce(
            (sum, { startedAt, endedAt }) => sum + Math.min(endedAt ?? END, END) - startedAt,
            0,
          );
        expect(total).toBe(counted(spans, 0, END).down);
      }),
    );
  });
});
