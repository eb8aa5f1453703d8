import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../src/base/time";
import {
  daysIn,
  endOfDay,
  instantsOf,
  isTimeZone,
  localTime,
  roundTimes,
  shownAt,
  timeZones,
  zoneNameAt,
  zoneNamed,
} from "../../src/base/zones";

const iso = (at: number) => new Date(at).toISOString().replace(":00.000Z", "Z");
const shown = (text: string) => Date.parse(`${text}Z`);

describe("the time that a clock shows", () => {
  test.each([
    ["Europe/Berlin", "2026-01-10T12:00:00"],
    ["America/New_York", "2026-01-10T06:00:00"],
    ["Asia/Kathmandu", "2026-01-10T16:45:00"],
    ["Etc/UTC", "2026-01-10T11:00:00"],
    ["europe/berlin", "2026-01-10T12:00:00"],
  ])("is that of the zone %s", (zone, text) => {
    expect(localTime(Date.parse("2026-01-10T11:00:00Z"), zone)).toBe(text);
  });

  test("leads back to the instant in every zone, at any time", () => {
    const zones = fc.constantFrom(...timeZones());
    const times = fc.integer({ min: Date.UTC(1975, 0), max: Date.UTC(2037, 0) });
    fc.assert(
      fc.property(zones, times, (zone, at) => {
        expect(instantsOf(shownAt(at, zone), zone)).toContain(at);
      }),
    );
  });

  test.each([
    ["Europe/Berlin", "2026-03-29T02:00", []],
    ["Europe/Berlin", "2026-03-29T02:59", []],
    ["Europe/Berlin", "2026-03-29T03:00", ["2026-03-29T01:00Z"]],
    ["Europe/Berlin", "2026-10-25T01:59", ["2026-10-24T23:59Z"]],
    ["Europe/Berlin", "2026-10-25T02:30", ["2026-10-25T00:30Z", "2026-10-25T01:30Z"]],
    ["Europe/Berlin", "2026-10-25T03:00", ["2026-10-25T02:00Z"]],
    ["America/New_York", "2026-11-01T01:15", ["2026-11-01T05:15Z", "2026-11-01T06:15Z"]],
    // The clock changes by half an hour.
    ["Australia/Lord_Howe", "2026-04-05T01:45", ["2026-04-04T14:45Z", "2026-04-04T15:15Z"]],
    ["Australia/Lord_Howe", "2026-10-04T02:15", []],
    // A day that the zone left out.
    ["Pacific/Apia", "2011-12-30T12:00", []],
  ])("in %s is %s at these instants", (zone, text, instants) => {
    expect(instantsOf(shown(text), zone).map(iso)).toEqual(instants);
  });
});

describe("a day in a time zone", () => {
  test.each([
    ["Europe/Berlin", "2026-03-29", 23],
    ["Europe/Berlin", "2026-10-25", 25],
    ["Europe/Berlin", "2026-07-01", 24],
    ["UTC", "2026-03-29", 24],
    ["Australia/Lord_Howe", "2026-04-05", 24.5],
  ])("of %s, %s, has its hours", (zone, day, hours) => {
    const { startOf, dayOf } = daysIn(zone);
    const [from, to] = [startOf(Date.parse(day)), endOfDay(day, zone)];
    expect((to - from) / HOUR_MS).toBe(hours);
    expect([from, to - 1].map(dayOf)).toEqual([Date.parse(day), Date.parse(day)]);
    expect([from - 1, to].map(dayOf)).toEqual([Date.parse(day) - DAY_MS, Date.parse(day) + DAY_MS]);
  });

  test("begins after the hour that the clock skips at midnight", () => {
    expect(iso(daysIn("America/Santiago").startOf(Date.parse("2026-09-06")))).toBe(
      "2026-09-06T04:00Z",
    );
  });

  test("that the zone left out begins and ends with the next one", () => {
    const { startOf } = daysIn("Pacific/Apia");
    const next = startOf(Date.parse("2011-12-31"));
    expect([startOf(Date.parse("2011-12-30")), endOfDay("2011-12-30", "Pacific/Apia")]).toEqual([
      next,
      next,
    ]);
  });
});

describe("round times of a clock", () => {
  const hours = (zone: string, from: string, to: string, step = 3 * HOUR_MS) =>
    roundTimes({ from: Date.parse(from), to: Date.parse(to) }, step, zone).map((at) =>
      localTime(at, zone).slice(5, 16),
    );

  test("are round in the zone", () => {
    expect(hours("Asia/Kathmandu", "2026-01-10T00:00Z", "2026-01-10T06:00Z")).toEqual([
      "01-10T06:00",
      "01-10T09:00",
    ]);
  });

  test("leave out the hour that the clock skips, and have a repeated one once", () => {
    expect(hours("Europe/Berlin", "2026-03-28T23:30Z", "2026-03-29T02:30Z", HOUR_MS)).toEqual([
      "03-29T01:00",
      "03-29T03:00",
      "03-29T04:00",
    ]);
    expect(hours("Europe/Berlin", "2026-10-24T22:30Z", "2026-10-25T02:30Z", HOUR_MS)).toEqual([
      "10-25T01:00",
      "10-25T02:00",
      "10-25T03:00",
    ]);
  });

  test("are found between any two times, such as in a margin of a chart", () => {
    const from = Date.parse("2026-01-10T00:00Z") + 0.4;
    const range = { from, to: from + 6 * HOUR_MS };
    expect(roundTimes(range, 3 * HOUR_MS, "Asia/Kathmandu").map(iso)).toEqual([
      "2026-01-10T00:15Z",
      "2026-01-10T03:15Z",
    ]);
  });

  test("of days are midnights, also when the clock changes", () => {
    expect(hours("Europe/Berlin", "2026-03-27T12:00Z", "2026-03-31T12:00Z", DAY_MS)).toEqual([
      "03-28T00:00",
      "03-29T00:00",
      "03-30T00:00",
      "03-31T00:00",
    ]);
  });
});

describe("the name of a time zone", () => {
  test.each([
    ["New York", "America/New_York"],
    [" berlin ", "Europe/Berlin"],
    ["Europe/Berlin", "Europe/Berlin"],
    ["US/Pacific", "US/Pacific"],
    ["europe/berlin", "Europe/Berlin"],
    ["us/pacific", "US/Pacific"],
    ["utc", "UTC"],
    ["São Paulo", "America/Sao_Paulo"],
    ["zürich", "Europe/Zurich"],
    ["UTC", "UTC"],
    ["Atlantis", "Atlantis"],
    ["", ""],
  ])("“%s” means %s", (typed, zone) => {
    expect(zoneNamed(typed)).toBe(zone);
  });

  test.each(["Asia/Kolkata", "Asia/Calcutta", "Europe/Kyiv", "Europe/Kiev", "US/Pacific", "GMT"])(
    "%s is accepted, alias or not",
    (zone) => {
      expect(isTimeZone(zone)).toBe(true);
    },
  );

  test.each(["", "Mars/Base", "Europe/", "Berlin"])("“%s” is no time zone", (name) => {
    expect(isTimeZone(name)).toBe(false);
  });

  test("is its abbreviation in English, else its offset", () => {
    const at = Date.parse("2026-07-01T12:00Z");
    expect(zoneNameAt(at, "Europe/Berlin")).toEqual({ name: "CEST", offset: "UTC+2" });
    expect(zoneNameAt(at, "America/New_York")).toEqual({ name: "EDT", offset: "UTC-4" });
    expect(zoneNameAt(at, "Asia/Kathmandu")).toEqual({ name: undefined, offset: "UTC+5:45" });
    expect(zoneNameAt(at, "GMT")).toEqual({ name: undefined, offset: "UTC" });
  });
});
