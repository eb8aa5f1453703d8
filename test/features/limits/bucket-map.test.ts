import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BucketMap } from "../../../src/features/limits";
import { createTestClock } from "../../support/clock";

const CAPACITY = 16;

/** Creates a map for sixteen callers. A `limit` of 60 refills one token per second. */
function smallMap(overflowLimit = 3, capacity = CAPACITY) {
  const clock = createTestClock();
  const map = new BucketMap({
    clock,
    capacity,
    overflowLimit,
    neighbourhood: (id) => id.slice(0, 2),
  });
  /** Spends tokens of a caller, and says whether that was from a bucket of its own. */
  const spend = (id: string, tokens: number, limit = 60): boolean => {
    const before = map.overflowed;
    for (let i = 0; i < tokens; i++) map.take(id, limit);
    return map.overflowed === before;
  };
  return { clock, map, spend };
}

describe("the map of buckets", () => {
  test("the map has a separate bucket for each caller", () => {
    const { map, spend } = smallMap();
    spend("a", 60);
    expect(map.take("a", 60).isAllowed).toBe(false);
    expect(map.take("b", 60).isAllowed).toBe(true);
    expect(map.size).toBe(2);
  });

  test("the map gives an unknown caller the full limit, and reading creates no bucket", () => {
    const { map } = smallMap();
    expect(map.remaining("nobody", 60)).toBe(60);
    expect(map.size).toBe(0);
  });

  test("the map ignores the wall clock", () => {
    const { clock, map, spend } = smallMap();
    spend("a", 60);
    clock.setWallClock(clock.now() + 86_400_000);
    expect(map.take("a", 60).isAllowed).toBe(false);
  });

  test("the map keeps a bucket exactly until it is full again", async () => {
    const { clock, map, spend } = smallMap();
    spend("short", 1);
    for (let i = 1; i < CAPACITY; i++) spend(`long${i}`, 60);
    await clock.advance(999);
    expect(spend("early", 1)).toBe(false);
    await clock.advance(1);
    expect(spend("in time", 1)).toBe(true);
    expect(map.size).toBe(CAPACITY);
  });

  test("the map keeps a bucket longer after every use", async () => {
    const { clock, map, spend } = smallMap();
    for (let i = 0; i < CAPACITY; i++) spend(`id${i}`, 1);
    await clock.advance(900);
    for (let i = 0; i < CAPACITY; i++) spend(`id${i}`, 1);
    await clock.advance(900);
    expect(spend("newcomer", 1)).toBe(false);
    expect(map.remaining("id0", 60)).toBe(59);
  });
});

describe("a map for many callers", () => {
  const MANY = 2_500;

  test("the map keeps all buckets while it grows, and gives each of its callers a bucket", () => {
    const { map, spend } = smallMap(3, MANY);
    spend("drained", 60);
    for (let i = 1; i < MANY; i++) map.take(`id${i}`, 60);
    expect(map.size).toBe(MANY);
    expect(map.overflowed).toBe(0);
    expect(map.take("drained", 60).isAllowed).toBe(false);
    for (let i = 1; i < MANY; i++) expect(map.remaining(`id${i}`, 60)).toBe(59);
    expect(spend("one too many", 1)).toBe(false);
  });

  test("a bucket is full at the same time as without the growth", async () => {
    const { clock, map, spend } = smallMap(3, MANY);
    spend("short", 2);
    await clock.advance(1_000);
    for (let i = 1; i < MANY; i++) spend(`long${i}`, 60);
    await clock.advance(999);
    expect(spend("early", 1)).toBe(false);
    await clock.advance(1);
    expect(spend("in time", 1)).toBe(true);
    expect(map.size).toBe(MANY);
  });

  test("the least recently used buckets stay the first to be replaced after the growth", async () => {
    const { clock, map, spend } = smallMap(3, MANY);
    spend("quick", 50, 6_000);
    for (let i = 0; i < 7; i++) spend(`old${i}`, 60);
    for (let i = 8; i < MANY; i++) spend(`new${i}`, 60);
    expect(spend("first", 1)).toBe(false);
    await clock.advance(500);
    expect(spend("second", 1)).toBe(true);
    expect(map.size).toBe(MANY);
  });
});

describe("a full map", () => {
  test("a full map removes buckets that are full again", async () => {
    const { clock, map, spend } = smallMap();
    for (let i = 0; i < CAPACITY; i++) spend(`id${i}`, 1);
    await clock.advance(1_001);
    expect(spend("newcomer", 1)).toBe(true);
    expect(map.size).toBe(1);
  });

  test("a full map searches all buckets at most once a second, else the eight least recently used", async () => {
    const { clock, spend } = smallMap();
    // With a limit of 6000 a bucket of 50 tokens is full again after half a second.
    for (let i = 0; i < 8; i++) spend(`old${i}`, 60);
    for (let i = 0; i < 8; i++) spend(`new${i}`, 50, 6_000);
    expect(spend("first", 1)).toBe(false);
    await clock.advance(999);
    // Eight buckets are full again, but they are not among the eight that are looked at.
    expect(spend("second", 1)).toBe(false);
    await clock.advance(1);
    expect(spend("third", 1)).toBe(true);
  });

  test("a full map replaces a full bucket among the eight least recently used at once", async () => {
    const { clock, map, spend } = smallMap();
    for (let i = 0; i < 7; i++) spend(`old${i}`, 60);
    spend("quick", 50, 6_000);
    for (let i = 0; i < 8; i++) spend(`new${i}`, 60);
    expect(spend("first", 1)).toBe(false);
    await clock.advance(500);
    expect(spend("second", 1)).toBe(true);
    expect(map.size).toBe(CAPACITY);
    expect(map.remaining("old0", 60)).toBe(0);
  });

  test("a full map counts every request charged to a shared bucket", () => {
    const { map, spend } = smallMap();
    for (let i = 0; i < CAPACITY; i++) spend(`id${i}`, 60);
    spend("xx1", 2);
    spend("xx2", 5);
    expect(map.overflowed).toBe(7);
    expect(map.size).toBe(CAPACITY);
  });

  test("a full map charges new callers of one network to a shared bucket", () => {
    const { map, spend } = smallMap();
    for (let i = 0; i < CAPACITY; i++) spend(`id${i}`, 60);
    const answers = ["xx1", "xx2", "xx3", "xx4"].map((id) => map.take(id, 60));
    expect(answers.map((answer) => answer.isAllowed)).toEqual([true, true, true, false]);
    expect(answers.map((answer) => answer.limit)).toEqual([3, 3, 3, 3]);
  });

  test("a full map has sixteen shared buckets for all new callers", () => {
    const { map, spend } = smallMap();
    for (let i = 0; i < CAPACITY; i++) spend(`id${i}`, 60);
    let allowed = 0;
    for (let i = 0; i < 2_000; i++) {
      if (map.take(`${String.fromCharCode(0x4e00 + i)}-`, 60).isAllowed) allowed += 1;
    }
    expect(allowed).toBe(16 * 3);
  });
});

describe("a flood of new callers", () => {
  test("a flood of new callers does not reset existing buckets", () => {
    const { map, spend } = smallMap();
    spend("drained", 60);
    spend("half", 30);
    for (let i = 0; i < 5_000; i++) map.take(`flood${i}`, 60);
    expect(map.take("drained", 60).isAllowed).toBe(false);
    expect(map.remaining("half", 60)).toBe(30);
    expect(map.size).toBe(CAPACITY);
    expect(map.overflowed).toBe(5_000 - (CAPACITY - 2));
  });

  test("the map never admits a caller beyond its limit from its own bucket", () => {
    const step = fc.record({
      gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
      caller: fc.integer({ min: 0, max: 40 }),
      times: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 120 }), async (steps) => {
        const { clock, map } = smallMap();
        const limit = 6;
        const admitted = new Map<number, number[]>();
        for (const { gap, caller, times } of steps) {
          if (gap > 0) await clock.advance(gap);
          for (let i = 0; i < times; i++) {
            const before = map.overflowed;
            const { isAllowed } = map.take(`caller${caller}`, limit);
            if (!isAllowed || map.overflowed > before) continue;
            admitted.set(caller, [...(admitted.get(caller) ?? []), clock.monotonic()]);
          }
        }
        for (const moments of admitted.values()) {
          for (const [from, start] of moments.entries()) {
            for (const [to, end] of moments.entries()) {
              if (to < from) continue;
              const most = limit + ((end - start) * limit) / 60_000 + 0.01;
              expect(to - from + 1).toBeLessThanOrEqual(most);
            }
          }
        }
        expect(map.size).toBeLessThanOrEqual(CAPACITY);
      }),
      { numRuns: 40 },
    );
  });
});

test("buckets of more callers than the first room are lowered, up to the capacity", () => {
  const clock = createTestClock();
  const capacity = 2_000;
  const map = new BucketMap({ clock, capacity, overflowLimit: 5, neighbourhood: (id) => id });
  for (let caller = 0; caller <= capacity; caller++) map.lower(`k${caller}`, 10, 4);
  expect([map.size, map.remaining("k1999", 10), map.remaining("k2000", 10)]).toEqual([
    2_000, 4, 10,
  ]);
});

test("a bucket is lowered to what is known to be left, and never raised", () => {
  const clock = createTestClock();
  const map = new BucketMap({ clock, capacity: 2, overflowLimit: 5, neighbourhood: (id) => id });
  map.lower("a", 10, 4);
  expect(map.remaining("a", 10)).toBe(4);
  map.lower("a", 10, 8);
  expect(map.remaining("a", 10)).toBe(4);
  map.lower("b", 10, 10);
  expect(map.size).toBe(1);
  map.take("b", 10);
  map.lower("c", 10, 0);
  expect([map.size, map.remaining("c", 10)]).toEqual([2, 10]);
});
