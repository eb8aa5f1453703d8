import { describe, expect, test } from "bun:test";
import {
  classifyAttempt,
  classifyRefusal,
  pauseLeft,
  refusalOf,
  RETRY_DELAYS_MS,
} from "../../../src/features/webhooks/rules";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { TEST_START } from "../../support/clock";

type EndedTry = Parameters<typeof classifyAttempt>[0];

const ended = (more: Partial<EndedTry> = {}): EndedTry => ({
  statusCode: 500,
  endedAt: TEST_START,
  failuresBefore: 0,
  canRetry: true,
  failingSince: null,
  chance: 0.5,
  ...more,
});

describe("attempts", () => {
  test.each([200, 201, 202, 204, 299])("an attempt answered with %d succeeds", (statusCode) => {
    const outcome = classifyAttempt(ended({ statusCode, failingSince: TEST_START - DAY_MS }));
    expect(outcome).toEqual({ status: "delivered", failingSince: null });
  });

  test.each([null, 100, 199, 300, 301, 302, 304, 307, 400, 401, 404, 429, 500, 503])(
    "an attempt answered with %p fails and is retried",
    (statusCode) => {
      expect(classifyAttempt(ended({ statusCode }))).toEqual({
        status: "pending",
        failingSince: TEST_START,
        waitMs: 5 * SECOND_MS,
      });
    },
  );

  test("an attempt is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, 76 hours in total", () => {
    const waits = RETRY_DELAYS_MS.map(
      (_delay, failuresBefore) => classifyAttempt(ended({ failuresBefore })).waitMs,
    );
    expect(waits).toEqual([
      5 * SECOND_MS,
      5 * MINUTE_MS,
      30 * MINUTE_MS,
      2 * HOUR_MS,
      5 * HOUR_MS,
      10 * HOUR_MS,
      14 * HOUR_MS,
      20 * HOUR_MS,
      24 * HOUR_MS,
    ]);
    const sum = waits.reduce<number>((total, wait) => total + (wait ?? 0), 0);
    expect(Math.round(sum / HOUR_MS)).toBe(76);
  });

  test("an attempt that fails after the last delay ends the delivery", () => {
    const outcome = classifyAttempt(ended({ failuresBefore: 9 }));
    expect(outcome).toEqual({ status: "failed", failingSince: TEST_START });
  });

  test.each([
    [0, 4 * SECOND_MS],
    [1, 6 * SECOND_MS],
  ])("an attempt is retried up to a fifth earlier or later, by chance (%d)", (chance, waitMs) => {
    expect(classifyAttempt(ended({ chance })).waitMs).toBe(waitMs);
  });

  test("an attempt of a test event is not retried", () => {
    expect(classifyAttempt(ended({ canRetry: false })).status).toBe("failed");
    expect(classifyAttempt(ended({ canRetry: false, statusCode: 200 })).status).toBe("delivered");
  });
});

/** Returns the refusal that a response is. Dates are relative to the test's start. */
const refused = (
  statusCode: number,
  retryAfter: string | undefined,
  more: { date?: string; bodySeconds?: unknown } = {},
) =>
  refusalOf({
    statusCode,
    retryAfter,
    date: undefined,
    bodySeconds: undefined,
    at: TEST_START,
    ...more,
  });

const inAnHour = new Date(TEST_START + HOUR_MS).toUTCString();
const inAMinute = new Date(TEST_START + MINUTE_MS).toUTCString();
const QUARTER_MS = 15 * MINUTE_MS;

describe("refusals", () => {
  test.each<[retryAfter: string, namedMs: number]>([
    ["1", SECOND_MS],
    [" 90 ", 90 * SECOND_MS],
    ["1.5", 1_500],
    ["0.3", 300],
    [".25", 250],
    ["2.", 2 * SECOND_MS],
    // Milliseconds are rounded up, and a pause has at least 100.
    ["0.1234", 124],
    ["0.000001", 100],
    [inAMinute, MINUTE_MS],
    // The obsolete forms, which receivers must not send and some do.
    ["Tuesday, 10-Mar-26 12:01:00 GMT", MINUTE_MS],
    ["Tue Mar 10 12:01:00 2026", MINUTE_MS],
    ["Tue Mar  3 12:01:00 2026", Number.NaN],
    // At most 15 minutes are believed.
    ["900", QUARTER_MS],
    ["901", QUARTER_MS],
    ["86400", QUARTER_MS],
    ["9".repeat(400), QUARTER_MS],
    [inAnHour, QUARTER_MS],
    ["Fri, 31 Dec 9999 23:59:59 GMT", QUARTER_MS],
    // None of these names a time to come.
    ["", Number.NaN],
    ["0", Number.NaN],
    ["0.0", Number.NaN],
    ["-5", Number.NaN],
    ["+5", Number.NaN],
    ["NaN", Number.NaN],
    ["Infinity", Number.NaN],
    ["1e3", Number.NaN],
    ["0x10", Number.NaN],
    ["5s", Number.NaN],
    ["1, 1", Number.NaN],
    ["1,5", Number.NaN],
    [".", Number.NaN],
    ["soon", Number.NaN],
    ["1 GMT", Number.NaN],
    ["2026-03-10T13:00:00Z", Number.NaN],
    ["10 Mar 2026 13:00:00", Number.NaN],
    ["Tue, 10 Mar 2026 12:01:00", Number.NaN],
    ["Tue, 10 Mar 2026 12:01:00 +0000", Number.NaN],
    ["Tue, 99 Mar 2026 12:01:00 GMT", Number.NaN],
    [new Date(TEST_START).toUTCString(), Number.NaN],
    ["Thu, 01 Jan 1970 00:00:00 GMT", Number.NaN],
  ])("Retry-After %p asks for a pause of %p ms; NaN stands for none", (retryAfter, namedMs) => {
    const isNamed = !Number.isNaN(namedMs);
    expect(refused(429, retryAfter)).toEqual({ namedMs: isNamed ? namedMs : undefined });
    // A 503 that names no time is an ordinary failure.
    expect(refused(503, retryAfter)).toEqual(isNamed ? { namedMs } : undefined);
  });

  test.each<[bodySeconds: unknown, namedMs: number | undefined]>([
    [1, SECOND_MS],
    [35, 35 * SECOND_MS],
    [0.65, 650],
    ["35", 35 * SECOND_MS],
    ["0.65", 650],
    [1e308, QUARTER_MS],
    [Number.POSITIVE_INFINITY, QUARTER_MS],
    [0, undefined],
    [-1, undefined],
    [Number.NEGATIVE_INFINITY, undefined],
    [Number.NaN, undefined],
    ["-1", undefined],
    ["", undefined],
    ["soon", undefined],
    [null, undefined],
    [true, undefined],
    [[5], undefined],
    [{ seconds: 5 }, undefined],
    [undefined, undefined],
  ])("the value %p in the body of a 429 asks for a pause of %p ms", (bodySeconds, namedMs) => {
    expect(refused(429, undefined, { bodySeconds })).toEqual({ namedMs });
    // A body does not make a 503 a refusal.
    expect(refused(503, undefined, { bodySeconds })).toBeUndefined();
  });

  test("the longer time counts if header and body name one", () => {
    expect(refused(429, "1", { bodySeconds: 0.3 })).toEqual({ namedMs: SECOND_MS });
    expect(refused(429, "1", { bodySeconds: 1.4 })).toEqual({ namedMs: 1_400 });
  });

  test("a date in Retry-After counts from the receiver's own time", () => {
    // The receiver's clock is an hour ahead.
    expect(
      refused(429, inAnHour, { date: new Date(TEST_START + HOUR_MS - 2_000).toUTCString() }),
    ).toEqual({
      namedMs: 2 * SECOND_MS,
    });
    // An hour behind.
    const date = new Date(TEST_START - HOUR_MS).toUTCString();
    const retryAfter = new Date(TEST_START - HOUR_MS + 30_000).toUTCString();
    expect(refused(503, retryAfter, { date })).toEqual({ namedMs: 30 * SECOND_MS });
    expect(refused(429, inAMinute, { date: "nonsense" })).toEqual({ namedMs: MINUTE_MS });
  });

  test.each([200, 204, 301, 400, 403, 404, 410, 420, 500, 502, 504])(
    "a response of %d is no refusal",
    (statusCode) => {
      expect(refused(statusCode, "60", { bodySeconds: 60 })).toBeUndefined();
    },
  );

  test("an endpoint is disabled after refusals of exactly 5 days, the last day without a break", () => {
    const after = (failingMs: number | null, refusingMs: number) =>
      classifyRefusal({
        endedAt: TEST_START,
        refusingMs,
        failingSince: failingMs === null ? null : TEST_START - failingMs,
      });
    expect(after(null, 0)).toEqual({ failingSince: TEST_START });
    expect(after(5 * DAY_MS - 1, 2 * DAY_MS)).toEqual({
      failingSince: TEST_START - 5 * DAY_MS + 1,
    });
    expect(after(5 * DAY_MS, DAY_MS).disable).toContain("5 days");
    expect(after(7 * DAY_MS, DAY_MS - 1).disable).toBeUndefined();
  });

  test("a recorded pause is over at its end, and one that is longer than any does not count", () => {
    const left = (ms: number) => pauseLeft(TEST_START + ms, TEST_START);
    expect([left(-1), left(0), left(1), left(QUARTER_MS), left(QUARTER_MS + 1)]).toEqual([
      0,
      0,
      1,
      QUARTER_MS,
      0,
    ]);
    expect(pauseLeft(undefined, TEST_START)).toBe(0);
  });
});

describe("disabling of endpoints", () => {
  test("an endpoint that answers 410 is disabled at once", () => {
    const outcome = classifyAttempt(ended({ statusCode: 410 }));
    expect(outcome.status).toBe("failed");
    expect(outcome.disable).toContain("410 Gone");
  });

  test("an endpoint is disabled after failing for exactly 5 days", () => {
    const after = (ms: number) =>
      classifyAttempt(ended({ failingSince: TEST_START - ms, failuresBefore: 6 }));
    expect(after(5 * DAY_MS - 1)).toMatchObject({ status: "pending" });
    expect(after(5 * DAY_MS - 1).disable).toBeUndefined();
    expect(after(5 * DAY_MS)).toMatchObject({ status: "failed" });
    expect(after(5 * DAY_MS).disable).toContain("5 days");
  });

  test("an endpoint that failed long ago is not disabled before the current delivery has failed repeatedly", () => {
    const failingSince = TEST_START - 30 * DAY_MS;
    for (const failuresBefore of [0, 1, 5]) {
      const outcome = classifyAttempt(ended({ failingSince, failuresBefore }));
      expect(outcome.status).toBe("pending");
      expect(outcome.disable).toBeUndefined();
    }
    expect(classifyAttempt(ended({ failingSince, canRetry: false })).disable).toBeUndefined();
    expect(classifyAttempt(ended({ failingSince, failuresBefore: 6 })).disable).toBeDefined();
  });

  test("an endpoint's failing time starts with its first failure and ends with a success", () => {
    expect(classifyAttempt(ended()).failingSince).toBe(TEST_START);
    const since = TEST_START - HOUR_MS;
    expect(classifyAttempt(ended({ failingSince: since })).failingSince).toBe(since);
    expect(
      classifyAttempt(ended({ failingSince: since, statusCode: 200 })).failingSince,
    ).toBeNull();
  });
});
