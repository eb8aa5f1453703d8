import { describe, expect, test } from "bun:test";
import {
  isLinkLive,
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
    userDisabledAt: null,
    userDeletedAt: null,
    ...more,
  };
}

describe("a session", () => {
  test("is live until 24 hours after its last use, and dead from that very millisecond", () => {
    const used = session({ lastSeenAt: START + 5 });
    expect(isSessionLive(used, START + 5)).toBe(true);
    expect(isSessionLive(used, START + 5 + DAY_MS - 1)).toBe(true);
    expect(isSessionLive(used, START + 5 + DAY_MS)).toBe(false);
  });

  test("that is in use is live for 14 days, and dead from that very millisecond", () => {
    const end = START + 14 * DAY_MS;
    const busy = session({ lastSeenAt: end - 1 });
    expect(isSessionLive(busy, end - 1)).toBe(true);
    expect(isSessionLive(busy, end)).toBe(false);
  });

  test("of a disabled or a deleted user is dead, since when does not matter", () => {
    expect(isSessionLive(session({ userDisabledAt: START }), START)).toBe(false);
    expect(isSessionLive(session({ userDisabledAt: START + DAY_MS }), START)).toBe(false);
    expect(isSessionLive(session({ userDeletedAt: START }), START)).toBe(false);
  });

  test("stays live when the wall clock is set back behind its start", () => {
    expect(isSessionLive(session(), START - HOUR_MS)).toBe(true);
  });
});

test("a session's use is written a minute after the last, and not a millisecond before", () => {
  expect(isTouchDue(START, START + 59_999)).toBe(false);
  expect(isTouchDue(START, START + 60_000)).toBe(true);
});

test("a link is live until the millisecond before its end", () => {
  expect(isLinkLive({ expiresAt: START }, START - 1)).toBe(true);
  expect(isLinkLive({ expiresAt: START }, START)).toBe(false);
});

test("the delay after failures begins with the third, doubles, and stays at 30 seconds", () => {
  const delays = Array.from({ length: 11 }, (_, failures) => loginDelayMs(failures));
  expect(delays).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(loginDelayMs(1_000_000)).toBe(30_000);
});
