import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CauseInterval, foldDays, timeByStatus } from "../../../src/features/components/rules";
import { COMPONENT_STATUSES } from "../../../src/kernel/component-status";
import { DAY_MS, HOUR_MS, startOfDay } from "../../../src/kernel/time";

const NOON = Date.parse("2026-03-10T12:00:00Z");
const DAYS = 5;
const hours = (n: number) => NOON - n * HOUR_MS;

const cause: fc.Arbitrary<CauseInterval> = fc
  .record({
    status: fc.constantFrom(...COMPONENT_STATUSES),
    from: fc.integer({ min: 0, max: 150 }),
    length: fc.option(fc.integer({ min: 0, max: 100 })),
  })
  .map(({ status, from, length }) => ({
    status,
    startedAt: hours(from),
    endedAt: length === null ? null : hours(from) + length * HOUR_MS,
  }));

describe("the days of a component", () => {
  test("are the UTC days up to today, oldest first, each by its status", () => {
    const causes: CauseInterval[] = [
      { status: "major_outage", startedAt: hours(18), endedAt: hours(6) },
      { status: "degraded_performance", startedAt: hours(1), endedAt: null },
    ];
    const days = foldDays(causes, { from: hours(30), to: NOON }, 3);
    expect(days.map((day) => new Date(day.start).toISOString())).toEqual([
      "2026-03-08T00:00:00.000Z",
      "2026-03-09T00:00:00.000Z",
      "2026-03-10T00:00:00.000Z",
    ]);
    expect(days.map(({ known }) => known / HOUR_MS)).toEqual([0, 18, 12]);
    const inHours = days.map(({ time }) =>
      COMPONENT_STATUSES.map((status) => time[status] / HOUR_MS),
    );
    expect(inHours).toEqual([
      [0, 0, 0, 0, 0],
      [12, 0, 0, 0, 6],
      [5, 0, 1, 0, 6],
    ]);
  });

  test("folded together say the same as each folded by itself, and add up to the whole", () => {
    const span = fc.integer({ min: 0, max: 150 }).map((n) => ({ from: hours(n), to: NOON }));
    fc.assert(
      fc.property(fc.array(cause, { maxLength: 8 }), span, (causes, known) => {
        const first = startOfDay(NOON) - (DAYS - 1) * DAY_MS;
        const days = foldDays(causes, known, DAYS);
        const sum = Object.fromEntries(COMPONENT_STATUSES.map((status) => [status, 0]));
        for (const [i, day] of days.entries()) {
          const start = first + i * DAY_MS;
          const from = Math.max(start, known.from);
          const to = Math.max(from, Math.min(start + DAY_MS, known.to));
          expect(day).toEqual({
            start,
            known: to - from,
            time: timeByStatus(causes, { from, to }),
          });
          for (const status of COMPONENT_STATUSES) {
            sum[status] = (sum[status] ?? 0) + day.time[status];
          }
        }
        const whole = { from: Math.max(first, known.from), to: known.to };
        expect(sum).toEqual({ ...timeByStatus(causes, whole) });
      }),
    );
  });

  test("say the same whatever order the causes are in", () => {
    fc.assert(
      fc.property(fc.array(cause, { maxLength: 8 }), (causes) => {
        const known = { from: hours(100), to: NOON };
        expect(foldDays(causes.toReversed(), known, DAYS)).toEqual(foldDays(causes, known, DAYS));
      }),
    );
  });

  test("of a component that is not known yet hold no data", () => {
    const known = { from: NOON + DAY_MS, to: NOON };
    expect(foldDays([], known, 2).map((day) => day.known)).toEqual([0, 0]);
  });

  test("that nothing touched share what they say, so that a quiet history is cheap", () => {
    const days = foldDays([], { from: 0, to: NOON }, 90);
    expect(days).toHaveLength(90);
    expect(new Set(days.map((day) => day.time)).size).toBe(2);
    expect(days[0]?.time.operational).toBe(DAY_MS);
    expect(days.at(-1)?.time.operational).toBe(12 * HOUR_MS);
  });
});
