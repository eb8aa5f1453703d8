import { describe, expect, test } from "bun:test";
import {
  isUnexpired,
  isSessionLive,
  isTouchDue,
  loginDelayMs,
} from "../../../src/features/auth/rules";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 2, 10);

function session(more: Partial<Parameters<typeof isSessionLive>[0]> = {}) {
  return {
    createdAt: START,
    lastSeenAt: START,
    identityId: null,
    userDisabledAt: null,
    userDeletedAt: null,
    ...more,
  };
}

describe("a session", () => {
  test("a session is live until exactly 24 hours after its last use", () => {
    const used = session({ lastSeenAt: START + 5 });
    expect(isSessionLive(used, START + 5)).toBe(true);
    expect(isSessionLive(used, START + 5 + DAY_MS - 1)).toBe(true);
    expect(isSessionLive(used, START + 5 + DAY_MS)).toBe(false);
  });

  test("a session in use is live for exactly 14 days", () => {
    const end = START + 14 * DAY_MS;
    const busy = session({ lastSeenAt: end - 1 });
    expect(isSessionLive(busy, end - 1)).toBe(true);
    expect(isSessionLive(busy, end)).toBe(false);
  });

  test("a session in use that began with an identity is live for exactly 12 hours", () => {
    const end = START + 12 * HOUR_MS;
    const busy = session({ identityId: 7, lastSeenAt: end - 1 });
    expect(isSessionLive(busy, end - 1)).toBe(true);
    expect(isSessionLive(busy, end)).toBe(false);
  });

  test("a session of a disabled or deleted user is not live, from any time", () => {
    expect(isSessionLive(session({ userDisabledAt: START }), START)).toBe(false);
    expect(isSessionLive(session({ userDisabledAt: START + DAY_MS }), START)).toBe(false);
    expect(isSessionLive(session({ userDeletedAt: START }), START)).toBe(false);
  });

  test("a session stays live if the wall clock is set back before its start", () => {
    expect(isSessionLive(session(), START - HOUR_MS)).toBe(true);
  });
});

test("a session's use is due to be written exactly a minute after the last", () => {
  expect(isTouchDue(START, START + 59_999)).toBe(false);
  expect(isTouchDue(START, START + 60_000)).toBe(true);
});

test("a one-time link is live until the millisecond before its end", () => {
  expect(isUnexpired({ expiresAt: START }, START - 1)).toBe(true);
  expect(isUnexpired({ expiresAt: START }, START)).toBe(false);
});

test("the delay after failures starts with the third, doubles and stays at 30 seconds", () => {
  const delays = Array.from({ length: 11 }, (_, failures) => loginDelayMs(failures));
  expect(delays).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(loginDelayMs(1_000_000)).toBe(30_000);
});
