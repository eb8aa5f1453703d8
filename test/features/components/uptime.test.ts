import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CauseInterval,
  effectiveStatus,
  knownSpan,
  timeByStatus,
  uptime,
  uptimeOfDays,
} from "../../../src/features/components/rules";
import { COMPONENT_STATUSES, worstStatus } from "../../../src/base/status";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";

const status = fc.constantFrom(...COMPONENT_STATUSES);
const cause: fc.Arbitrary<CauseInterval> = fc
  .record({
    status,
    startedAt: fc.integer({ min: -50, max: 150 }),
    length: fc.option(fc.integer({ min: 0, max: 120 })),
  })
  .map(({ status, startedAt, length }) => ({
    status,
    startedAt,
    endedAt: length === null ? null : startedAt + length,
  }));

describe("the status of a component", () => {
  test("the status of a component is the worst of its manual status and its causes", () => {
    fc.assert(
      fc.property(status, fc.array(status), (baseline, open) => {
        const causes = open.map((each) => ({ status: each }));
        const shown = effectiveStatus(baseline, causes);
        expect(shown).toBe(effectiveStatus(baseline, causes.toReversed()));
        expect(COMPONENT_STATUSES.indexOf(shown)).toBe(
          Math.max(...[baseline, ...open].map((each) => COMPONENT_STATUSES.indexOf(each))),
        );
      }),
    );
  });
});

const gap = cause.map(({ startedAt, endedAt }) => ({ startedAt, endedAt }));
const isOpenAt = (ms: number) => (each: { startedAt: number; endedAt: number | null }) =>
  each.startedAt <= ms && (each.endedAt === null || each.endedAt > ms);

describe("time by status", () => {
  test("the time by status equals a count of all milliseconds without those without data", () => {
    const gaps = fc.array(gap, { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(cause, { maxLength: 8 }), gaps, (causes, unknown) => {
        const span = { from: 0, to: 100 };
        const counted = Object.fromEntries(COMPONENT_STATUSES.map((each) => [each, 0]));
        for (let ms = span.from; ms < span.to; ms++) {
          if (unknown.some(isOpenAt(ms))) continue;
          const open = causes.filter(isOpenAt(ms));
          const worst = worstStatus(open.map((each) => each.status));
          counted[worst] = (counted[worst] ?? 0) + 1;
        }
        expect(timeByStatus(causes, span, unknown)).toEqual(
          counted as ReturnType<typeof timeByStatus>,
        );
      }),
    );
  });
});

describe("uptime", () => {
  const day = { from: 0, to: DAY_MS };
  const year = { from: 0, to: 365 * DAY_MS };
  const outage = (of: CauseInterval["status"], hours: number): CauseInterval => ({
    status: of,
    startedAt: 0,
    endedAt: hours * HOUR_MS,
  });

  test("uptime counts a major outage fully, a partial outage by three tenths and degraded performance not at all", () => {
    expect(uptime([outage("major_outage", 6)], day)).toBe(0.75);
    expect(uptime([outage("partial_outage", 12)], day)).toBe(0.85);
    expect(uptime([outage("degraded_performance", 24)], day)).toBe(1);
  });

  test("uptime excludes maintenance and is null without known time", () => {
    const causes = [
      outage("under_maintenance", 12),
      { status: "major_outage" as const, startedAt: 12 * HOUR_MS, endedAt: 18 * HOUR_MS },
    ];
    expect(uptime(causes, day)).toBe(0.5);
    expect(uptime([outage("under_maintenance", 24)], day)).toBeNull();
    expect(uptime([], { from: DAY_MS, to: DAY_MS })).toBeNull();
  });

  test("uptime excludes time without data, even during a cause", () => {
    const unknown = [{ startedAt: 6 * HOUR_MS, endedAt: 18 * HOUR_MS }];
    expect(uptime([outage("major_outage", 12)], day, unknown)).toBe(0.5);
    expect(uptime([], day, [{ startedAt: 0, endedAt: null }])).toBeNull();
  });

  test("uptime with any outage is below 1 after rounding", () => {
    const blink = { status: "major_outage" as const, startedAt: 0, endedAt: 1 };
    expect(uptime([blink], { from: 0, to: 90 * DAY_MS })).toBe(0.999999);
    const partly = { ...blink, status: "partial_outage" as const };
    const years = Array.from({ length: 500 }, () => ({ time: timeByStatus([], year) }));
    expect(uptimeOfDays([...years, { time: timeByStatus([partly], year) }])).toBe(0.999999);
  });

  test("uptime equals the exact integer computation, rounded down to six decimals", () => {
    const ms = fc.integer({ min: 0, max: 400 * DAY_MS });
    fc.assert(
      fc.property(ms, ms, ms, ms, (operational, degraded, partial, major) => {
        const time = {
          operational,
          under_maintenance: 7,
          degraded_performance: degraded,
          partial_outage: partial,
          major_outage: major,
        };
        const counted = BigInt(operational + degraded + partial + major) * 10n;
        const up = counted - BigInt(major) * 10n - BigInt(partial) * 3n;
        const expected = counted === 0n ? null : Number((up * 1_000_000n) / counted) / 1e6;
        expect(uptimeOfDays([{ time }])).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
    for (let tenths = 0; tenths <= 1_000; tenths++) {
      const causes = [{ ...outage("partial_outage", 0), endedAt: tenths * (DAY_MS / 1_000) }];
      expect(uptime(causes, day)).toBe(Number((1 - (0.3 * tenths) / 1_000).toFixed(4)));
    }
  });

  test("uptime is known from the creation or the start date, for at most ninety days", () => {
    const now = Date.UTC(2026, 2, 10, 12);
    const created = now - 2 * DAY_MS;
    expect(knownSpan({ createdAt: created, startDate: null }, now, 90).from).toBe(created);
    expect(knownSpan({ createdAt: created, startDate: "2026-03-01" }, now, 90).from).toBe(
      Date.UTC(2026, 2, 1),
    );
    expect(knownSpan({ createdAt: created, startDate: "2020-01-01" }, now, 90).from).toBe(
      Date.UTC(2025, 11, 11),
    );
  });
});

describe("uptime_90d in the status document", () => {
  test("uptime_90d counts an outage exactly and changes as time passes", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({}, ["API"]);
    const key = await app.keyWith("read:status", "write:components");
    const set = (to: string) =>
      app.call(`/api/v1/components/${components.API}`, {
        method: "PATCH",
        key,
        json: { status: to },
      });
    const read = async () =>
      (await app.call("/api/v1/status/acme", { key })).body.components[0].uptime_90d;
    expect(await read()).toBeNull();
    await app.clock.advance(9 * HOUR_MS);
    expect(await read()).toBe(1);
    await set("major_outage");
    await app.clock.advance(HOUR_MS);
    expect(await read()).toBe(0.9);
    await set("operational");
    await app.clock.advance(10 * HOUR_MS);
    expect(await read()).toBe(0.95);
  });
});
