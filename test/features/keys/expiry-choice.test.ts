import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { localTime } from "../../../src/base/zones";
import {
  decideExpiry,
  describeExpiry,
  EXPIRY_DAYS,
  expiryOfChoice,
  stateOfKey,
} from "../../../src/features/keys/rules";

const NOON = Date.parse("2026-03-10T12:00:00Z");
const MIDNIGHT = Date.parse("2026-03-10T00:00:00Z");

describe("choices of a key's expiry", () => {
  test.each([
    ["never", null],
    ["7", "2026-03-17"],
    ["30", "2026-04-09"],
    ["90", "2026-06-08"],
    ["365", "2027-03-10"],
  ])("the expiry choice %s gives %p at the start and end of the day", (choice, expires) => {
    expect(expiryOfChoice(choice, undefined, MIDNIGHT)).toBe(expires);
    expect(expiryOfChoice(choice, "2031-01-01", MIDNIGHT + 86_400_000 - 1)).toBe(expires);
  });

  test("the expiry choice of a date gives that day, also today", () => {
    expect(expiryOfChoice("date", "2027-01-31", NOON)).toBe("2027-01-31");
    expect(expiryOfChoice("date", " 2026-03-10 ", NOON)).toBe("2026-03-10");
  });

  test.each([
    [undefined, "must be a day such as 2027-01-31"],
    ["", "must be a day such as 2027-01-31"],
    ["31.01.2027", "must be a day such as 2027-01-31"],
    ["2027-02-30", "must be a day such as 2027-01-31"],
    ["2027-01-31T10:00:00Z", "must be a day such as 2027-01-31"],
    ["2026-03-09", "is in the past"],
    ["9999-12-31", "is too far in the future; omit it for no expiration"],
  ])("the expiry date %p is rejected: it %s", (date, error) => {
    expect(expiryOfChoice("date", date, NOON)).toEqual({ error });
  });

  test.each(["", "8", "07", "-1", "__proto__", "DATE"])(
    "the unknown expiry choice %p is rejected",
    (choice) => {
      expect(expiryOfChoice(choice, "2027-01-31", NOON)).toEqual({
        error: "must be never, 7, 30, 90, 365 (days) or date",
      });
    },
  );

  test("a day in another time zone than UTC gives its end there, also when the clock changes on it", () => {
    const choose = (choice: string, date?: string, now = NOON) =>
      expiryOfChoice(choice, date, now, "Europe/Berlin");
    expect(choose("date", "2027-01-31")).toBe("2027-01-31T23:00:00.000Z");
    expect(choose("date", "2026-10-25")).toBe("2026-10-25T23:00:00.000Z");
    expect(choose("date", "2026-10-24")).toBe("2026-10-24T22:00:00.000Z");
    expect(choose("7")).toBe("2026-03-17T23:00:00.000Z");
    // It is the next day there already.
    const late = Date.parse("2026-03-10T23:30:00Z");
    expect(choose("7", undefined, late)).toBe("2026-03-18T23:00:00.000Z");
    expect(choose("date", "2026-03-10", late)).toEqual({ error: "is in the past" });
    expect(choose("date", "2026-03-11", late)).toBe("2026-03-11T23:00:00.000Z");
    expect(describeExpiry("2027-01-31T23:00:00.000Z", "Europe/Berlin")).toBe("2027-01-31");
    expect(describeExpiry("2027-02-01T00:00:00.000Z", "Europe/Berlin")).toBe(
      "2027-02-01 01:00 CET",
    );
  });

  test("an expiry choice in days lasts at least that number of days and at most one more", () => {
    const moments = fc.integer({ min: 0, max: Date.UTC(9_000, 0, 1) });
    fc.assert(
      fc.property(fc.constantFrom(...EXPIRY_DAYS), moments, (choice, now) => {
        const expires = expiryOfChoice(choice, undefined, now);
        const decided = decideExpiry(String(expires), now);
        const lasts = "expiresAt" in decided ? decided.expiresAt - now : Number.NaN;
        expect(lasts).toBeGreaterThan(Number(choice) * 86_400_000);
        expect(lasts).toBeLessThanOrEqual((Number(choice) + 1) * 86_400_000);
      }),
    );
  });
});

describe("descriptions of an expiry", () => {
  test.each([
    ["2027-02-01T00:00:00.000Z", "2027-01-31"],
    ["2028-03-01T00:00:00.000Z", "2028-02-29"],
    ["2027-01-01T00:00:00.000Z", "2026-12-31"],
    ["2027-01-31T00:00:00.001Z", "2027-01-31 00:00 UTC"],
    ["2027-01-31T14:05:59.000Z", "2027-01-31 14:05 UTC"],
    ["2027-01-31T23:59:59.999Z", "2027-01-31 23:59 UTC"],
  ])("the expiry %s is described as %s", (expiresAt, text) => {
    expect(describeExpiry(expiresAt)).toBe(text);
  });

  test.each([
    ["2026-09-06T04:00:00.000Z", "America/Santiago"],
    ["2026-11-01T04:00:00.000Z", "America/Havana"],
  ])(
    "an expiry at %s is the end of a day in %s, where the clock changes at midnight",
    (at, zone) => {
      const day = localTime(Date.parse(at) - 1, zone).slice(0, 10);
      expect(expiryOfChoice("date", day, NOON, zone)).toBe(at);
      expect(describeExpiry(at, zone)).toBe(day);
    },
  );

  test("an expiry is past from its exact millisecond", () => {
    const end = Date.parse("2026-03-11T00:00:00Z");
    const stateAt = (now: number) => stateOfKey({ expiresAt: end, revokedAt: null }, now);
    expect(stateAt(end - 1)).not.toBe("expired");
    expect(stateAt(end)).toBe("expired");
  });

  test("an expiry chosen as a day is described by that day", () => {
    const days = fc.date({
      min: new Date("2000-01-01T00:00:00Z"),
      max: new Date("9999-12-30T23:59:59Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(days, (moment) => {
        const day = moment.toISOString().slice(0, 10);
        const decided = decideExpiry(day, moment.getTime());
        if (!("expiresAt" in decided)) throw new Error(decided.error);
        const expiresAt = new Date(decided.expiresAt).toISOString();
        expect(describeExpiry(expiresAt)).toBe(day);
      }),
    );
  });
});
