import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BucketMap } from "../../../src/features/limits/limiter";
import { systemRandom } from "../../../src/base/hash";
import { createTestClock } from "../../support/clock";

const CAPACITY = 16;
const MINUTE_MS = 60_000;

/** Creates a map for sixteen callers. */
function smallMap(overflowLimit = 3, capacity = CAPACITY) {
  const clock = createTestClock();
  const map = new BucketMap({ clock, random: systemRandom, capacity, overflowLimit });
  /** Spends tokens of a caller, and says whether that was from a bucket of its own. */
  const spend = (id: string, tokens = 1, limit = 60): boolean => {
    const before = map.overflowed;
    for (let i = 0; i < tokens; i++) map.take(id, limit);
    return map.overflowed === before;
  };
  const fill = () => {
    while (map.size < capacity) spend(`filler ${map.size}`);
  };
  return { clock, map, spend, fill };
}

describe("the map of buckets", () => {
  test("the map has a separate bucket for each caller", () => {
    const { map, spend } = smallMap();
    spend("a", 60);
    expect(map.take("a", 60).isAllowed).toBe(false);
    expect(map.take("b", 60).isAllowed).toBe(true);
    expect([map.size, map.rejected]).toEqual([2, 1]);
  });

  test("the map gives an unknown caller the full limit, and reading creates no bucket", () => {
    const { map } = smallMap();
    expect([map.remaining("nobody", 60), map.waitSeconds("nobody", 60), map.size]).toEqual([
      60, 0, 0,
    ]);
  });

  test("the map ignores the wall clock", () => {
    const { clock, map, spend } = smallMap();
    spend("a", 60);
    clock.setWallClock(clock.now() + 86_400_000);
    expect(map.take("a", 60).isAllowed).toBe(false);
  });

  test("a caller's bucket is filled again a minute after its first token, and no use renews that", async () => {
    const { clock, map, spend } = smallMap();
    spend("a", 10, 100);
    for (let second = 0; second < 59; second++) {
      await clock.advance(1_000);
      spend("a", 1, 100);
    }
    expect(map.remaining("a", 100)).toBe(100 - 69);
    await clock.advance(999);
    expect([map.waitSeconds("a", 69), map.waitSeconds("a", 70)]).toEqual([1, 0]);
    await clock.advance(1);
    expect(map.remaining("a", 100)).toBe(100);
  });

  test.each([
    ["two IPv4 addresses", "10.0.0.1", "10.0.1.0"],
    ["an IPv4 address and its number", "0.0.0.7", "7"],
    ["the greatest address and its number", "255.255.255.255", "4294967295"],
    ["an address and a text that is none", "1.2.3.4", "1.2.3.4.5"],
    ["an address and a number beyond a byte", "1.2.4.0", "1.2.3.256"],
    ["an address and one with a group missing", "0.1.2.3", "1.2.3"],
    ["texts with empty groups", "1..2.3", "1.2..3"],
    ["an IPv4 address and an IPv6 network", "1.2.3.4", "1:2:3:4"],
    ["texts that differ at their ends", "1.2.3.", "1.2.3"],
    ["the empty text and zero", "", "0.0.0.0"],
  ])("%s have buckets of their own", (_, one, other) => {
    const { map, spend } = smallMap();
    spend(one, 60);
    expect([map.remaining(one, 60), map.remaining(other, 60)]).toEqual([0, 60]);
  });
});

describe("a map for many callers", () => {
  const MANY = 2_500;

  test("the map keeps all buckets while it grows, and gives each of its callers a bucket", () => {
    const { map, spend } = smallMap(3, MANY);
    spend("drained", 60);
    for (let i = 1; i < MANY; i++) map.take(`id${i}`, 60);
    expect([map.size, map.overflowed]).toEqual([MANY, 0]);
    expect(map.take("drained", 60).isAllowed).toBe(false);
    for (let i = 1; i < MANY; i++) expect(map.remaining(`id${i}`, 60)).toBe(59);
    expect(spend("one too many")).toBe(false);
  });

  test("a minute ends at the same time as without the growth", async () => {
    const { clock, map, spend, fill } = smallMap(3, MANY);
    spend("early", 2);
    await clock.advance(1_000);
    fill();
    await clock.advance(MINUTE_MS - 1_001);
    expect([map.remaining("early", 60), spend("too early")]).toEqual([58, false]);
    await clock.advance(1);
    expect([map.remaining("early", 60), spend("in time")]).toEqual([60, true]);
    expect(map.size).toBe(MANY);
  });
});

describe("a full map", () => {
  test("a full map gives a newcomer the place of a caller whose minute is over, at that moment", async () => {
    const { clock, map, spend, fill } = smallMap();
    for (let i = 0; i < 4; i++) {
      spend(`id${i}`);
      await clock.advance(1_000);
    }
    fill();
    await clock.advance(MINUTE_MS - 4_001);
    expect(spend("too early")).toBe(false);
    for (let i = 0; i < 4; i++) {
      await clock.advance(i === 0 ? 1 : 1_000);
      expect([spend(`newcomer ${i}`), spend(`another ${i}`)]).toEqual([true, false]);
    }
    expect(map.size).toBe(CAPACITY);
  });

  test("a caller that begins another minute keeps its place, behind those that began before", async () => {
    const { clock, map, spend, fill } = smallMap();
    spend("old");
    await clock.advance(1_000);
    spend("other");
    fill();
    await clock.advance(MINUTE_MS - 1_000);
    spend("old", 5);
    expect(spend("newcomer")).toBe(false);
    await clock.advance(1_000);
    expect(spend("another")).toBe(true);
    expect([map.remaining("old", 60), map.remaining("other", 60)]).toEqual([55, 60]);
  });

  test("a full map counts newcomers in counters, each with the overflow limit and a minute of its own", async () => {
    const { clock, map, fill } = smallMap();
    fill();
    const decisions = Array.from({ length: 4 }, () => map.take("newcomer", 60));
    expect(decisions.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, false]);
    expect(decisions.map(({ limit }) => limit)).toEqual([3, 3, 3, 3]);
    expect([map.remaining("newcomer", 60), map.waitSeconds("newcomer", 60)]).toEqual([0, 60]);
    expect([map.overflowed, map.rejected, map.size]).toEqual([4, 1, CAPACITY]);
    await clock.advance(30_000);
    expect(map.waitSeconds("newcomer", 60)).toBe(30);
    expect(map.take("later", 60).refillInSeconds).toBe(60);
  });

  test("newcomers are spread over 65,536 counters, by a secret of each map", () => {
    const served = () => {
      const { map, fill } = smallMap(1);
      fill();
      return Array.from({ length: 65_536 }, (_, i) => map.take(`newcomer ${i}`, 60).isAllowed);
    };
    const [one, other] = [served(), served()];
    // So many of as many hashes are distinct: 1 − 1/e.
    const share = one.filter(Boolean).length / one.length;
    expect(share).toBeGreaterThan(0.62);
    expect(share).toBeLessThan(0.645);
    expect(one).not.toEqual(other);
  });

  test("a caller that was counted in a counter stays there until the counter's minute is over", async () => {
    const { clock, map, spend, fill } = smallMap();
    fill();
    await clock.advance(MINUTE_MS - 1);
    for (let i = 0; i < 4; i++) map.take("newcomer", 60);
    await clock.advance(1);
    // There is room now, and a bucket of its own would let its whole limit through a second time.
    expect(map.take("newcomer", 60).isAllowed).toBe(false);
    expect(spend("another")).toBe(true);
    await clock.advance(MINUTE_MS - 1);
    expect(map.take("newcomer", 60)).toMatchObject({ isAllowed: true, remaining: 59 });
  });
});

describe("a flood of new callers", () => {
  test("a flood of new callers does not reset existing buckets", () => {
    const { map, spend } = smallMap();
    spend("drained", 60);
    spend("half", 30);
    for (let i = 0; i < 5_000; i++) map.take(`flood${i}`, 60);
    expect(map.take("drained", 60).isAllowed).toBe(false);
    expect([map.remaining("half", 60), map.size]).toEqual([30, CAPACITY]);
    expect(map.overflowed).toBe(5_000 - (CAPACITY - 2));
  });

  test("no caller gets more than its limit in a minute that begins with a request of its own", () => {
    const step = fc.record({
      gap: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
      caller: fc.integer({ min: 0, max: 40 }),
      times: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 120 }), async (steps) => {
        const limit = 6;
        const { clock, map } = smallMap(limit);
        const minutes = new Map<number, { endsAt: number; admitted: number }>();
        for (const { gap, caller, times } of steps) {
          if (gap > 0) await clock.advance(gap);
          for (let i = 0; i < times; i++) {
            const now = clock.monotonic();
            const { isAllowed, refillInSeconds } = map.take(`caller${caller}`, limit);
            if (!isAllowed) continue;
            let minute = minutes.get(caller);
            if (!minute || now >= minute.endsAt) {
              // A counter that others use as well can have begun its minute before.
              minute = { endsAt: now + refillInSeconds * 1_000 - 999, admitted: 0 };
              minutes.set(caller, minute);
            }
            minute.admitted += 1;
            expect(minute.admitted).toBeLessThanOrEqual(limit);
          }
        }
        expect(map.size).toBeLessThanOrEqual(CAPACITY);
      }),
      { numRuns: 40 },
    );
  });
});

test("what is known of callers is noted for more than the first room, up to the capacity", () => {
  const capacity = 2_000;
  const { map } = smallMap(5, capacity);
  for (let caller = 0; caller <= capacity; caller++) map.raise(`k${caller}`, 6, 30_000);
  expect([map.size, map.remaining("k1999", 10), map.remaining("k2000", 10)]).toEqual([
    2_000, 4, 10,
  ]);
});

test("what is known of a caller is noted with the rest of its minute, and nothing of an unused bucket", async () => {
  const { clock, map } = smallMap();
  map.raise("a", 6, 30_000);
  map.raise("unused", 0, 30_000);
  map.raise("over", 5, 0);
  expect([map.remaining("a", 10), map.size]).toEqual([4, 1]);
  await clock.advance(29_999);
  expect(map.take("a", 10)).toMatchObject({ remaining: 3, refillInSeconds: 1 });
  await clock.advance(1);
  expect(map.take("a", 10)).toMatchObject({ remaining: 9, refillInSeconds: 60 });
});
