import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { crons } from "../../src/base/cron";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";

const { errorOf, read } = crons();

/** Lists the occurrences between two times in ISO 8601, as such times. */
function occurrences(expression: string, timeZone: string, from: string, until: string): string[] {
  const times = read(expression, timeZone).list(Date.parse(from) - 1, {
    count: 1000,
    until: Date.parse(until),
  });
  return times.map((at) => new Date(at).toISOString().replace(":00.000Z", "Z"));
}

describe("occurrences of a cron expression", () => {
  test("are found in the time zone, in summer and in winter", () => {
    const berlin = (from: string, until: string) =>
      occurrences("30 2 * * *", "Europe/Berlin", from, until);
    expect(berlin("2026-01-10T00:00Z", "2026-01-12T00:00Z")).toEqual([
      "2026-01-10T01:30Z",
      "2026-01-11T01:30Z",
    ]);
    expect(berlin("2026-07-10T00:00Z", "2026-07-11T00:00Z")).toEqual(["2026-07-10T00:30Z"]);
  });

  test("are later than the time that is asked for, which can have milliseconds", () => {
    const { next } = read("0 * * * *", "UTC");
    expect(next(HOUR_MS)).toBe(2 * HOUR_MS);
    expect(next(HOUR_MS - 1)).toBe(HOUR_MS);
    expect(next(HOUR_MS + 1)).toBe(2 * HOUR_MS);
  });

  test("end at the number or the time that is asked for", () => {
    const daily = read("0 0 * * *", "UTC");
    expect(daily.list(0, { count: 5 })).toEqual([1, 2, 3, 4, 5].map((day) => day * DAY_MS));
    expect(daily.list(0, { count: 5, until: 2 * DAY_MS })).toEqual([DAY_MS]);
  });

  test("match the day of month or the day of week if neither begins with a star", () => {
    expect(occurrences("0 0 13 * FRI", "UTC", "2026-02-10T00:00Z", "2026-02-22T00:00Z")).toEqual([
      "2026-02-13T00:00Z",
      "2026-02-20T00:00Z",
    ]);
    expect(occurrences("0 0 14 * FRI", "UTC", "2026-02-10T00:00Z", "2026-02-22T00:00Z")).toEqual([
      "2026-02-13T00:00Z",
      "2026-02-14T00:00Z",
      "2026-02-20T00:00Z",
    ]);
  });

  test.each([
    // Mondays with an odd date.
    ["0 0 */2 * MON", ["2026-06-01T00:00Z", "2026-06-15T00:00Z", "2026-06-29T00:00Z"]],
    // Sundays among the first eight days.
    ["0 0 1-8 * */7", ["2026-06-07T00:00Z"]],
  ])("match both days if one is a star with steps: %s", (expression, expected) => {
    expect(occurrences(expression, "UTC", "2026-06-01T00:00Z", "2026-07-01T00:00Z")).toEqual(
      expected,
    );
  });

  test("can be on the last day, on a weekday of the month and on the nearest weekday", () => {
    const inMay = (expression: string) =>
      occurrences(expression, "UTC", "2026-05-01T00:00Z", "2026-06-01T00:00Z");
    expect(inMay("0 0 L * *")).toEqual(["2026-05-31T00:00Z"]);
    expect(inMay("0 0 * * SUN#1")).toEqual(["2026-05-03T00:00Z"]);
    expect(inMay("0 0 * * 7L")).toEqual(["2026-05-31T00:00Z"]);
    expect(inMay("0 0 16W * *")).toEqual(["2026-05-15T00:00Z"]);
  });
});

describe("an hour that the clock skips", () => {
  test.each([
    ["Europe/Berlin", "2026-03-29", "2026-03-29T01:00Z"],
    ["America/New_York", "2026-03-08", "2026-03-08T07:00Z"],
  ])("has its occurrences once, when it ends, in %s", (timeZone, day, end) => {
    const until = `${day}T23:00Z`;
    for (const expression of ["30 2 * * *", "0,30 2 * * *", "*/15 2 * * *", "0 2 * * *"]) {
      expect(occurrences(expression, timeZone, `${day}T00:00Z`, until)).toEqual([end]);
    }
    expect(occurrences("0 2,3 * * *", timeZone, `${day}T00:00Z`, until)).toEqual([end]);
  });

  test("has none of an expression for every hour", () => {
    expect(
      occurrences("30 * * * *", "Europe/Berlin", "2026-03-29T00:00Z", "2026-03-29T03:00Z"),
    ).toEqual(["2026-03-29T00:30Z", "2026-03-29T01:30Z", "2026-03-29T02:30Z"]);
  });

  test("has its occurrence at midnight where the next day begins with its end", () => {
    expect(
      occurrences("30 23 * * *", "America/Nuuk", "2026-03-28T12:00Z", "2026-03-30T12:00Z"),
    ).toEqual(["2026-03-29T01:00Z", "2026-03-30T00:30Z"]);
  });
});

describe("an hour that the clock repeats", () => {
  test.each([
    ["Europe/Berlin", "2026-10-25", "2 * * *", "2026-10-25T00"],
    ["America/New_York", "2026-11-01", "1 * * *", "2026-11-01T05"],
  ])("has its occurrences once, at its first pass, in %s", (timeZone, day, hour, first) => {
    const on = (minutes: string) =>
      occurrences(`${minutes} ${hour}`, timeZone, `${day}T00:00Z`, `${day}T23:00Z`);
    expect(on("0")).toEqual([`${first}:00Z`]);
    expect(on("30")).toEqual([`${first}:30Z`]);
    expect(on("0,30")).toEqual([`${first}:00Z`, `${first}:30Z`]);
    expect(on("*/20")).toEqual([`${first}:00Z`, `${first}:20Z`, `${first}:40Z`]);
  });

  test("has none left for a time in its second pass", () => {
    const { next } = read("30 2 * * *", "Europe/Berlin");
    expect(next(Date.parse("2026-10-25T01:10Z"))).toBe(Date.parse("2026-10-26T01:30Z"));
  });

  test("has both passes of an expression for every hour", () => {
    const expected = ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:30Z"];
    for (const expression of ["30 * * * *", "30 0-23 * * *"]) {
      expect(
        occurrences(expression, "Europe/Berlin", "2026-10-25T00:00Z", "2026-10-25T03:00Z"),
      ).toEqual(expected);
    }
  });
});

const FIVE =
  "must have five fields, minute, hour, day of month, month and day of week, or be a nickname such as @daily";

describe("a cron expression", () => {
  test.each([
    ["@hourly", "0 * * * *"],
    ["@daily", "0 0 * * *"],
    ["@midnight", "0 0 * * *"],
    ["@weekly", "0 0 * * 0"],
    ["@monthly", "0 0 1 * *"],
    ["@yearly", "0 0 1 1 *"],
    ["@Annually", "0 0 1 1 *"],
  ])("of the nickname %s occurs as %s", (nickname, expression) => {
    expect(crons().errorOf(nickname)).toBeUndefined();
    const after = Date.parse("2026-03-10T12:34Z");
    const listed = (text: string) => crons().read(text, "Europe/Berlin").list(after, { count: 3 });
    expect(listed(nickname)).toEqual(listed(expression));
  });

  test.each([
    ["* * * *", FIVE],
    ["0 0 * * * *", FIVE],
    ["@reboot", FIVE],
    ["60 * * * *", "has no valid minute: 60"],
    ["0 24 * * *", "has no valid hour: 24"],
    ["0 0 32 * *", "has no valid day of month: 32"],
    ["0 0 * 13 *", "has no valid month: 13"],
    ["0 0 * * MOO", "has no valid day of week: MOO"],
    ["0 0 * * FRI-MON", "has no valid day of week: FRI-MON"],
    ["*/0 * * * *", "has no valid minute: */0"],
    ["5/15 * * * *", "has no valid minute: 5/15"],
    ["0 0 30 2 *", "never occurs, since no month that it names has such a day"],
    ["0 0 31 4,6,9,11 *", "never occurs, since no month that it names has such a day"],
  ])("is refused: %s", (expression, error) => {
    expect(errorOf(expression)).toBe(error);
  });

  test.each(["0 0 29 2 *", "0 0 30 2 MON", "0 0 29 2 */7", "  0  0 * * 7 ", "*/5 8-18 * jan fri"])(
    "is accepted: %s",
    (expression) => {
      expect(errorOf(expression)).toBeUndefined();
    },
  );

  test.each(["0 0 31 2,4,6,9,11 */2", "* * */31 * MON#5,TUE#5,WED#5", "* 0 LW 1-12 */7"])(
    "that never occurs is refused after a short search: %s",
    (expression) => {
      using dates = spyOn(Date, "UTC");
      expect(errorOf(expression)).toStartWith("never occurs");
      // A search of 400 years calculates ten times as many.
      expect(dates.mock.calls.length).toBeLessThan(200_000);
    },
  );

  test("is found again after years without an occurrence", () => {
    const after = Date.parse("2026-01-01T00:00Z");
    const next = (expression: string) => read(expression, "Europe/Berlin").next(after);
    expect(next("0 0 29 2 *")).toBe(Date.parse("2028-02-28T23:00Z"));
    expect(next("0 * 29 2 */7")).toBe(Date.parse("2032-02-28T23:00Z"));
  });
});

const minuteList = fc.oneof(
  fc.constant("*"),
  fc.constantFrom("*/7", "*/30", "0-59/20"),
  fc.array(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 3 }).map(String),
);
const hourList = fc.oneof(
  fc.constantFrom("*", "*/2", "1-3"),
  fc.array(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 3 }).map(String),
);

test("occurrences are the minutes that a clock shows, each once", () => {
  fc.assert(
    fc.property(
      minuteList,
      hourList,
      fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk"),
      fc.constantFrom("2026-03-07", "2026-03-28", "2026-04-04", "2026-10-24", "2026-10-31"),
      (minutes, hours, timeZone, day) => {
        const from = Date.parse(day);
        const until = from + 2 * DAY_MS;
        const expression = `${minutes} ${hours} * * *`;
        const found = read(expression, timeZone).list(from - 1, { count: 5000, until });
        const isOnClock = matcher(minutes, hours);
        const format = new Intl.DateTimeFormat("en-GB", {
          timeZone,
          dateStyle: "short",
          timeStyle: "short",
        });
        const seen = new Set<string>();
        const expected: number[] = [];
        for (let at = from - 3 * HOUR_MS; at < until; at += MINUTE_MS) {
          const shown = format.format(at);
          const isAgain = hours !== "*" && seen.has(shown);
          seen.add(shown);
          if (at >= from && !isAgain && isOnClock(shown)) expected.push(at);
        }
        // The end of a skipped hour has that hour's occurrences too, which other tests name.
        const isAfterMinute = (at: number) =>
          minutesShown(format.format(at)) === (minutesShown(format.format(at - 1)) + 1) % 1440;
        expect(found.filter(isAfterMinute)).toEqual(expected.filter(isAfterMinute));
      },
    ),
    { numRuns: 20 },
  );
});

function minutesShown(shown: string): number {
  const [hour = 0, minute = 0] = shown.slice(-5).split(":").map(Number);
  return (hour * 60 + minute) % 1440;
}

/** Returns a function that tells if a text that ends in a time of day matches two fields. */
function matcher(minutes: string, hours: string): (shown: string) => boolean {
  const matches = (field: string, value: number) =>
    field.split(",").some((part) => {
      const [range = "", step = "1"] = part.split("/");
      const [low = 0, high = low] = range === "*" ? [0, 59] : range.split("-").map(Number);
      return value >= low && value <= high && (value - low) % Number(step) === 0;
    });
  return (shown) => {
    const at = minutesShown(shown);
    return matches(minutes, at % 60) && matches(hours, Math.floor(at / 60));
  };
}
