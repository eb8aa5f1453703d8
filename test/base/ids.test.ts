import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createIdFactory } from "../../src/base/ids";
import { systemRandom } from "../../src/base/hash";
import { createTestClock, TEST_START } from "../support/clock";

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

function toUuid(id: string): string {
  let value = 0n;
  for (const digit of id.slice(id.indexOf("_") + 1)) {
    value = value * 32n + BigInt(CROCKFORD.indexOf(digit));
  }
  const hex = value.toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

describe("an id", () => {
  test("an id is its prefix and a UUIDv7 of its time in 26 characters", () => {
    const newId = createIdFactory(createTestClock(), systemRandom);
    for (const prefix of ["key", "page", "cmp"] as const) {
      const id = newId(prefix);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
      const uuid = toUuid(id);
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(uuid.replace("-", "").slice(0, 12), 16)).toBe(TEST_START);
    }
  });

  test("an id sorts after all earlier ones, however the wall clock moves", () => {
    const moves = fc.array(fc.integer({ min: -2_000, max: 2_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(moves, fc.uint8Array({ minLength: 10, maxLength: 10 }), (steps, tail) => {
        const clock = createTestClock();
        const newId = createIdFactory(clock, () => tail);
        let last = newId("evt");
        for (const step of steps) {
          clock.setWallClock(clock.now() + step);
          const next = newId("evt");
          expect(next > last).toBe(true);
          last = next;
        }
      }),
    );
  });

  test("an id sorts after the newest of an earlier process, even if the clock was set back", () => {
    const earlier = createIdFactory(createTestClock(), systemRandom);
    const newest = Array.from({ length: 5_000 }, () => earlier("upd")).at(-1) ?? "";
    for (const step of [-3_600_000, -1, 0, 1, 3_600_000]) {
      const clock = createTestClock();
      clock.setWallClock(clock.now() + step);
      const newId = createIdFactory(clock, systemRandom, () => newest);
      const first = newId("upd");
      expect(first > newest).toBe(true);
      expect(newId("upd") > first).toBe(true);
    }
  });

  test("ten thousand ids of one millisecond differ by their counter alone", () => {
    const newId = createIdFactory(createTestClock(), (size) => new Uint8Array(size).fill(0xff));
    const ids = Array.from({ length: 10_000 }, () => newId("evt"));
    expect(new Set(ids).size).toBe(10_000);
    expect(ids).toEqual([...ids].sort());
  });
});
