import { describe, expect, spyOn, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import {
  ClockTime,
  Day,
  DayTime,
  duration,
  exactTime,
  InZone,
  longDay,
  relativeTime,
  shortDay,
  spanAt,
  zoneSpan,
  zoneTime,
} from "../../src/ui/times";

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

describe("a time in a time zone", () => {
  test("is shown in that of its reader, with UTC as tooltip and the exact time in the markup", () => {
    const at = "2026-07-01T22:30:05.000Z";
    const now = Date.parse("2026-07-01T23:00:00Z");
    const shown = (zone: string) =>
      renderToString(h(InZone, { value: zone }, h(DayTime, { at, now }), h(Day, { at })));
    const utc = "1 July 2026, 22:30:05 UTC";
    expect(shown("UTC")).toBe(
      `<time datetime="${at}" title="${utc}">Today, 22:30</time><time datetime="${at}" title="${utc}">1 Jul 2026</time>`,
    );
    const tip = `2 July 2026, 00:30:05 Europe/Berlin\n${utc}`;
    expect(shown("Europe/Berlin")).toBe(
      `<time datetime="${at}" title="${tip}">Today, 00:30</time><time datetime="${at}" title="${tip}">2 Jul 2026</time>`,
    );
  });

  test("is of today by the day of the zone", () => {
    const at = Date.parse("2026-07-01T22:30Z");
    const now = Date.parse("2026-07-01T20:00Z");
    const shown = (zone: string) =>
      renderToString(
        h(
          InZone,
          { value: zone },
          h(ClockTime, { at: new Date(at).toISOString(), now, hasZone: true }),
        ),
      ).replace(/<[^>]*>/g, "");
    expect(shown("UTC")).toBe("22:30 UTC");
    expect(shown("Europe/Berlin")).toBe("2 Jul, 00:30 CEST");
    // It is that day there already.
    expect(shown("Asia/Kathmandu")).toBe("04:15 UTC+5:45");
  });

  test("has spans that name the second day if it is another", () => {
    const span = { from: Date.parse("2026-07-01T21:00Z"), to: Date.parse("2026-07-01T23:00Z") };
    expect(spanAt(span, "UTC")).toBe("1 Jul 2026, 21:00–23:00 UTC");
    expect(spanAt(span, "Europe/Berlin")).toBe("1 Jul 2026, 23:00 – 2 Jul 2026, 01:00 CEST");
  });
});

test("a list of times makes one formatter for each time zone", () => {
  const made = spyOn(Intl, "DateTimeFormat");
  try {
    const texts = Array.from({ length: 100 }, (_, index) => {
      const at = NOW + index * HOUR;
      return [zoneSpan(at, at + HOUR, "Africa/Casablanca"), zoneTime(at, "Africa/Casablanca")];
    });
    expect(new Set(texts.flat()).size).toBe(200);
    expect(made.mock.calls.length).toBeLessThanOrEqual(1);
  } finally {
    made.mockRestore();
  }
});
