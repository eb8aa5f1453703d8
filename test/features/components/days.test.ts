import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addTimes,
  type CauseInterval,
  foldDays,
  timeByStatus,
} from "../../../src/features/components/rules";
import { COMPONENT_STATUSES } from "../../../src/base/status";
import { DAY_MS, HOUR_MS, startOfDay } from "../../../src/base/time";

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

const gap = cause.map(({ startedAt, endedAt }) => ({ startedAt, endedAt }));

describe("the days of a component", () => {
  test("foldDays returns the UTC days up to today, oldest first, with the time in each status", () => {
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

  test("days folded together equal each day folded alone and add up to the whole span", () => {
    const span = fc.integer({ min: 0, max: 150 }).map((n) => ({ from: hours(n), to: NOON }));
    const causes = fc.array(cause, { maxLength: 8 });
    fc.assert(
      fc.property(causes, span, fc.array(gap, { maxLength: 3 }), (causes, known, gaps) => {
        const first = startOfDay(NOON) - (DAYS - 1) * DAY_MS;
        const days = foldDays(causes, known, DAYS, gaps);
        for (const [i, day] of days.entries()) {
          const start = first + i * DAY_MS;
          const from = Math.max(start, known.from);
          const to = Math.max(from, Math.min(start + DAY_MS, known.to));
          const time = timeByStatus(causes, { from, to }, gaps);
          const knownMs = COMPONENT_STATUSES.reduce((sum, status) => sum + time[status], 0);
          expect(day).toEqual({ start, known: knownMs, noData: to - from - knownMs, time });
        }
        const whole = { from: Math.max(first, known.from), to: known.to };
        expect(addTimes(days.map(({ time }) => time))).toEqual(timeByStatus(causes, whole, gaps));
      }),
    );
  });

  test("the days of a component do not depend on the order of its causes", () => {
    fc.assert(
      fc.property(fc.array(cause, { maxLength: 8 }), (causes) => {
        const known = { from: hours(100), to: NOON };
        expect(foldDays(causes.toReversed(), known, DAYS)).toEqual(foldDays(causes, known, DAYS));
      }),
    );
  });

  test("the days of a component distinguish time without data from time before the component", () => {
    const outage: CauseInterval = { status: "major_outage", startedAt: hours(8), endedAt: null };
    const away = { startedAt: hours(6), endedAt: hours(2) };
    const [before, today] = foldDays([outage], { from: hours(10), to: NOON }, 2, [away]);
    expect([before?.known, before?.noData]).toEqual([0, 0]);
    expect([today?.known, today?.noData]).toEqual([6 * HOUR_MS, 4 * HOUR_MS]);
    expect(today?.time.major_outage).toBe(4 * HOUR_MS);
    expect(today?.time.operational).toBe(2 * HOUR_MS);
  });

  test("the days of a component with a future start contain no time", () => {
    const known = { from: NOON + DAY_MS, to: NOON };
    expect(foldDays([], known, 2).map((day) => day.known)).toEqual([0, 0]);
  });
});
