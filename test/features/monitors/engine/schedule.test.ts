import { describe, expect, test } from "bun:test";
import { createIdFactory } from "../../../../src/base/ids";
import { systemRandom } from "../../../../src/base/hash";
import { HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { createTestClock, type TestClock } from "../../../support/clock";
import { openScheduler } from "../../../support/scheduler";

const clock = createTestClock();
const newId = createIdFactory(clock, systemRandom);
const ids = Array.from({ length: 6_000 }, () => newId("mon"));

/** Returns functions that return the due time of a first check, and of the check after a result. */
function createSchedule(own: TestClock, random = systemRandom) {
  const { scheduler, monitor } = openScheduler({ clock: own, random });
  return {
    first(id: string, intervalMs: number) {
      const scheduled = monitor(id, intervalMs);
      scheduler.first(scheduled);
      return scheduled.dueAt;
    },
    next(id: string, intervalMs: number) {
      const scheduled = monitor(id, intervalMs);
      scheduler.next(scheduled, false, own.now());
      return scheduled.dueAt;
    },
  };
}

/** Counts the times, in ms from now, in each of `parts` equal parts of a span. */
function spread(moments: readonly number[], spanMs: number, parts: number): number[] {
  const counts = Array.from<number>({ length: parts }).fill(0);
  for (const at of moments) {
    const part = Math.floor((at / spanMs) * parts);
    counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts;
}

describe("the schedule after a start", () => {
  for (const intervalMs of [5_000, MINUTE_MS]) {
    test(`first checks with an interval of ${intervalMs} ms are evenly spread over it`, () => {
      const schedule = createSchedule(clock);
      const moments = ids.map((id) => schedule.first(id, intervalMs) - clock.monotonic());
      expect(Math.min(...moments)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...moments)).toBeLessThanOrEqual(intervalMs);
      const counts = spread(moments, intervalMs + 1, 10);
      expect(Math.min(...counts)).toBeGreaterThan(470);
      expect(Math.max(...counts)).toBeLessThan(730);
    });
  }

  test("first checks with a long interval are due within a minute, and the next are spread over the interval", () => {
    const schedule = createSchedule(clock);
    const now = clock.monotonic();
    const first = ids.map((id) => schedule.first(id, HOUR_MS) - now);
    expect(Math.max(...first)).toBeLessThan(MINUTE_MS);
    const next = ids.map((id) => schedule.next(id, HOUR_MS) - now);
    const counts = spread(next, HOUR_MS * 1.01, 10);
    expect(Math.min(...counts)).toBeGreaterThan(450);
    expect(Math.max(...counts)).toBeLessThan(730);
  });

  test("a monitor keeps its slot after a restart", async () => {
    const own = createTestClock();
    const before = createSchedule(own);
    const [id = ""] = ids;
    const at = before.first(id, MINUTE_MS);
    await own.advance(17 * MINUTE_MS + 123);
    const after = createSchedule(own);
    expect((after.first(id, MINUTE_MS) - at) % MINUTE_MS).toBe(0);
  });
});

test("a check starts at most a hundredth of its interval after its slot, and never before", async () => {
  const own = createTestClock();
  const schedule = createSchedule(own);
  const [id = ""] = ids;
  const slot = schedule.first(id, MINUTE_MS) % MINUTE_MS;
  const offsets = new Set<number>();
  for (let round = 0; round < 200; round++) {
    const due = schedule.next(id, MINUTE_MS);
    offsets.add((due - slot) % MINUTE_MS);
    expect(due - own.monotonic()).toBeLessThanOrEqual(1.01 * MINUTE_MS);
    await own.advance(due - own.monotonic());
  }
  expect(Math.max(...offsets)).toBeLessThanOrEqual(600);
  expect(offsets.size).toBeGreaterThan(20);
});

test("the locations of a monitor follow one another within its interval", () => {
  const { scheduler, monitor } = openScheduler({ clock, random: (size) => new Uint8Array(size) });
  const [id = ""] = ids;
  const slots = [0, 1 / 3, 2 / 3].map((phase) => {
    const scheduled = monitor(id, MINUTE_MS, phase);
    scheduler.next(scheduled, false, clock.now());
    return scheduled.dueAt % MINUTE_MS;
  });
  const [first = 0] = slots;
  const delays = slots.map((slot) => Math.round((slot - first + MINUTE_MS) % MINUTE_MS));
  expect(delays).toEqual([0, 20_000, 40_000]);
});

test("a change of the wall clock does not move a slot", () => {
  const own = createTestClock();
  const schedule = createSchedule(own, (size) => new Uint8Array(size));
  const [id = ""] = ids;
  const due = schedule.next(id, MINUTE_MS);
  own.setWallClock(own.now() + 7 * HOUR_MS + 1_234);
  expect(schedule.next(id, MINUTE_MS)).toBe(due);
});
