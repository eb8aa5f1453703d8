import { describe, expect, test } from "bun:test";
import {
  type EndedTry,
  classifyAttempt,
  RETRY_DELAYS_MS,
} from "../../../src/features/webhooks/rules";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/kernel/time";
import { TEST_START } from "../../support/clock";

const ended = (more: Partial<EndedTry> = {}): EndedTry => ({
  statusCode: 500,
  retryAfter: undefined,
  endedAt: TEST_START,
  failuresBefore: 0,
  canRetry: true,
  failingSince: null,
  chance: 0.5,
  ...more,
});

const asking = (statusCode: number | null, retryAfter: string, more: Partial<EndedTry> = {}) =>
  classifyAttempt(ended({ statusCode, retryAfter, ...more })).waitMs;

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

describe("Retry-After", () => {
  test.each([429, 503])(
    "Retry-After of a %d is respected, in seconds or as a date",
    (statusCode) => {
      expect(asking(statusCode, "90")).toBe(90 * SECOND_MS);
      expect(asking(statusCode, " 90 ")).toBe(90 * SECOND_MS);
      const date = new Date(TEST_START + HOUR_MS).toUTCString();
      expect(asking(statusCode, date)).toBe(HOUR_MS);
      // The obsolete form, which receivers must not send and some do.
      expect(asking(statusCode, "Tuesday, 10-Mar-26 13:00:00 GMT")).toBe(HOUR_MS);
    },
  );

  test("Retry-After is limited to a day", () => {
    expect(asking(503, "864000")).toBe(DAY_MS);
    expect(asking(503, "9".repeat(400))).toBe(DAY_MS);
    expect(asking(503, "Fri, 31 Dec 2038 23:59:59 GMT")).toBe(DAY_MS);
  });

  test("Retry-After never shortens the regular delay", () => {
    expect(asking(503, "1", { failuresBefore: 2 })).toBe(30 * MINUTE_MS);
    expect(asking(503, "Thu, 01 Jan 1970 00:00:00 GMT")).toBe(5 * SECOND_MS);
  });

  test.each(["", "soon", "-5", "1.5", "0x10", "2026", "10 Mar 2026 13:00:00"])(
    "the Retry-After value %p is ignored or shorter than the regular delay",
    (retryAfter) => {
      expect(asking(503, retryAfter) ?? 0).toBeLessThan(HOUR_MS);
    },
  );

  test.each([null, 301, 404, 500])("Retry-After of a %p is ignored", (statusCode) => {
    expect(asking(statusCode, "3600")).toBe(5 * SECOND_MS);
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
