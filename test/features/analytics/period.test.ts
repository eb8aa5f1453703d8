import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  INTERVALS,
  type IntervalName,
  LINES_MAX,
  readPeriod,
} from "../../../src/features/analytics/period";
import { DAY_MS, HOUR_MS, toIso } from "../../../src/base/time";

const NOW = Date.parse("2026-03-10T12:34:56.789Z");
const periodOf = (input: Parameters<typeof readPeriod>[0]) => {
  const { from, to, spans } = readPeriod(input, NOW);
  return { from: toIso(from), to: toIso(to), edges: spans.map((span) => toIso(span.from)) };
};
const rejection = (input: Parameters<typeof readPeriod>[0]) => {
  try {
    return readPeriod(input, NOW);
  } catch (error) {
    return (error as { code: string; fields: { pointer: string }[] }).fields[0]?.pointer;
  }
};

describe("the period of analytics", () => {
  test("the default period is the last 30 UTC days, today included", () => {
    const { from, to, edges } = periodOf({});
    expect([from, to]).toEqual(["2026-02-09T00:00:00.000Z", "2026-03-10T12:34:56.789Z"]);
    expect(edges).toHaveLength(1);
    expect(periodOf({ interval: "day" }).edges).toHaveLength(30);
    const past = periodOf({ to: "2026-03-01T00:00:00Z", interval: "day" });
    expect(past.from).toBe("2026-01-30T00:00:00.000Z");
    expect(past.edges).toHaveLength(30);
  });

  test("a period ends now at the latest and must start before its end", () => {
    expect(periodOf({ to: "2030-01-01T00:00:00Z" }).to).toBe("2026-03-10T12:34:56.789Z");
    const from = "2026-03-10T12:34:56.788Z";
    expect(periodOf({ from }).from).toBe(from);
    expect(rejection({ from: toIso(NOW) })).toBe("#/from");
    expect(rejection({ from: "2029-01-01T00:00:00Z", to: "2030-01-01T00:00:00Z" })).toBe("#/from");
    expect(rejection({ from, to: from })).toBe("#/from");
    expect(rejection({ from, to: "2026-03-01T00:00:00Z" })).toBe("#/from");
  });

  test("a period is divided at the boundaries of UTC hours, days and months", () => {
    const input = { from: "2026-01-30T10:30:00Z", to: "2026-03-01T00:00:00Z" };
    expect(periodOf({ ...input, interval: "month" }).edges).toEqual([
      "2026-01-30T10:30:00.000Z",
      "2026-02-01T00:00:00.000Z",
    ]);
    const hours = periodOf({ ...input, to: "2026-01-30T12:00:00Z", interval: "hour" });
    expect(hours.edges).toEqual(["2026-01-30T10:30:00.000Z", "2026-01-30T11:00:00.000Z"]);
  });

  test("a period with too many intervals is rejected before they are made", () => {
    const from = (hours: number) =>
      toIso(Math.floor(NOW / HOUR_MS) * HOUR_MS - (hours - 1) * HOUR_MS);
    expect(periodOf({ from: from(LINES_MAX), interval: "hour" }).edges).toHaveLength(LINES_MAX);
    expect(rejection({ from: from(LINES_MAX + 1), interval: "hour" })).toBe("#/interval");
    expect(rejection({ from: "1970-01-01T00:00:00Z", interval: "hour" })).toBe("#/interval");
    expect(periodOf({ from: "1970-01-01T00:00:00Z", interval: "month" }).edges).toHaveLength(675);
    expect(periodOf({ from: "1970-01-01T00:00:00Z" }).edges).toHaveLength(1);
  });

  test("the intervals of any period cover it without gaps", () => {
    const instant = fc.integer({ min: NOW - 25 * DAY_MS, max: NOW - 1 });
    const name: fc.Arbitrary<IntervalName> = fc.constantFrom(...INTERVALS);
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: 30 * DAY_MS }), name, (from, length, each) => {
        const to = from + length;
        const period = readPeriod({ from: toIso(from), to: toIso(to), interval: each }, NOW);
        expect(period.spans[0]?.from).toBe(from);
        expect(period.spans.at(-1)?.to).toBe(Math.min(NOW, to));
        for (const [i, span] of period.spans.entries()) {
          expect(span.to).toBeGreaterThan(span.from);
          if (i > 0) expect(span.from).toBe(period.spans[i - 1]?.to ?? 0);
          // No two moments of one span lie in different hours, days or months.
          const cut = { hour: 13, day: 10, month: 7 }[each];
          expect(toIso(span.to - 1).slice(0, cut)).toBe(toIso(span.from).slice(0, cut));
        }
      }),
    );
  });
});
