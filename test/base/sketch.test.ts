import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  mergeSketches,
  quantileOf,
  sketchFromBytes,
  sketchOf,
  sketchToBytes,
} from "../../src/base/sketch";
import { sum } from "../../src/base/numbers";

/** Error of a quantile that docs state. */
const RELATIVE_ERROR = 0.02;

const latencies = fc.array(fc.integer({ min: 1, max: 86_400_000 }), {
  minLength: 1,
  maxLength: 200,
});

function exactQuantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN;
}

describe("a sketch", () => {
  test("a sketch returns every quantile within its error", () => {
    fc.assert(
      fc.property(latencies, fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 1), (values, part) => {
        const exact = exactQuantile(values, part);
        const estimate = quantileOf(sketchOf(values), part) ?? Number.NaN;
        expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(exact * RELATIVE_ERROR * 1.0001);
      }),
    );
  });

  test("merged sketches equal the sketch of all values", () => {
    fc.assert(
      fc.property(fc.array(latencies, { maxLength: 6 }), (parts) => {
        const merged = mergeSketches(parts.map((values) => sketchOf(values)));
        expect(merged).toEqual(sketchOf(parts.flat()));
      }),
    );
  });

  test("a sketch is read back from its bytes", () => {
    fc.assert(
      fc.property(latencies, (values) => {
        const sketch = sketchOf(values);
        const back = sketchFromBytes(sketchToBytes(sketch));
        expect(back).toEqual(sketch);
        expect(sum(back)).toBe(values.length);
      }),
    );
  });

  test("a sketch of an hour of checks takes less than a hundred bytes", () => {
    const hour = Array.from({ length: 60 }, (_, minute) => 80 + ((minute * 37) % 120));
    expect(sketchToBytes(sketchOf(hour)).length).toBeLessThan(100);
  });

  test("an empty sketch has no quantile", () => {
    expect(quantileOf(sketchOf([]), 0.5)).toBeNull();
    expect(sketchToBytes(sketchOf([])).length).toBe(0);
    expect(sketchFromBytes(Buffer.of())).toEqual(sketchOf([]));
  });

  test("truncated bytes of a sketch are rejected", () => {
    const bytes = sketchToBytes(sketchOf([1_000, 2_000]));
    expect(() => sketchFromBytes(bytes.subarray(0, -1))).toThrow("cut short");
  });
});
