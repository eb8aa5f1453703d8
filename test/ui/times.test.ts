import { describe, expect, test } from "bun:test";
import { duration, exactTime, longDay, relativeTime, shortDay } from "../../src/ui/times";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21, 14, 32);

describe("a relative time", () => {
  test.each([
    [0, "just now"],
    [SECOND - 1, "just now"],
    [SECOND, "1 s ago"],
    [MINUTE - 1, "59 s ago"],
    [MINUTE, "1 min ago"],
    [HOUR - 1, "59 min ago"],
    [HOUR, "1 h ago"],
    [DAY - 1, "23 h ago"],
    [DAY, "1 day ago"],
    [2 * DAY - 1, "1 day ago"],
    [104 * DAY, "104 days ago"],
    [365 * DAY - 1, "364 days ago"],
    [365 * DAY, "1 year ago"],
    [800 * DAY, "2 years ago"],
  ])("a time %d ms ago is counted in whole units: %s", (distance, text) => {
    expect(relativeTime(NOW - distance, NOW)).toBe(text);
  });

  test.each([
    [SECOND - 1, "just now"],
    [SECOND, "in 1 s"],
    [MINUTE - 1, "in 1 min"],
    [90 * SECOND, "in 2 min"],
    [HOUR - 1, "in 1 h"],
    [5 * HOUR + 10 * MINUTE, "in 5 h"],
    [DAY - 1, "in 1 day"],
    [7 * DAY - 40, "in 7 days"],
    [7 * DAY, "in 7 days"],
    [365 * DAY, "in 1 year"],
  ])("a time %d ms ahead is rounded to whole units: %s", (distance, text) => {
    expect(relativeTime(NOW + distance, NOW)).toBe(text);
  });
});

test("exact times contain day, second and time zone", () => {
  expect(exactTime("2026-11-01T04:05:06.789Z")).toBe("1 November 2026, 04:05:06 UTC");
  expect(longDay("2027-02-12")).toBe("12 February 2027");
  expect(shortDay("2027-02-12T00:00:00.000Z")).toBe("12 Feb 2027");
});

test("durations are in whole minutes and hours", () => {
  expect([0, 0.6, 59, 60, 70, 1_440].map(duration)).toEqual([
    "0 min",
    "1 min",
    "59 min",
    "1 h",
    "1 h 10 min",
    "24 h",
  ]);
});
