import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { crons } from "../../../src/base/cron";
import {
  cronOf,
  describeTimes,
  readTimes,
  type Times,
  WEEK_NAMES,
  WEEKDAYS,
} from "../../../src/features/maintenance/schedules/times";

describe("a cron expression in plain fields", () => {
  test.each([
    ["0 3 * * *", { repeats: "daily", at: "03:00" }, "Every day at 03:00"],
    ["@daily", { repeats: "daily", at: "00:00" }, "Every day at 00:00"],
    ["5 23 * * mon-sun", { repeats: "daily", at: "23:05" }, "Every day at 23:05"],
    ["30 9 * * 1-5", { repeats: "weekdays", at: "09:30" }, "Monday to Friday at 09:30"],
    ["0 3 * * TUE", { repeats: "weekly", days: ["TUE"] }, "Every Tuesday at 03:00"],
    ["0 3 * * 2", { repeats: "weekly", days: ["TUE"] }, "Every Tuesday at 03:00"],
    ["@weekly", { repeats: "weekly", days: ["SUN"], at: "00:00" }, "Every Sunday at 00:00"],
    [
      "0 3 * * 7,3,1",
      { repeats: "weekly", days: ["MON", "WED", "SUN"] },
      "Every Monday, Wednesday and Sunday at 03:00",
    ],
    [
      "0 3 * * FRI-SUN",
      { repeats: "weekly", days: ["FRI", "SAT", "SUN"] },
      "Every Friday, Saturday and Sunday at 03:00",
    ],
    ["0 3 15 * *", { repeats: "month_day", monthDay: "15" }, "Day 15 of every month at 03:00"],
    ["0 3 L * *", { repeats: "month_day", monthDay: "L" }, "Last day of every month at 03:00"],
    [
      "0 3 * * TUE#2",
      { repeats: "month_weekday", week: "2", weekday: "TUE" },
      "Second Tuesday of every month at 03:00",
    ],
    [
      "0 3 * * 5#L",
      { repeats: "month_weekday", week: "L", weekday: "FRI" },
      "Last Friday of every month at 03:00",
    ],
  ])("%s has the fields %j", (cron, fields, words) => {
    const times = readTimes(cron);
    expect(times).toMatchObject(fields as Partial<Times>);
    expect(describeTimes(times)).toBe(words);
  });

  test.each([
    "*/15 * * * *",
    "0 */6 * * *",
    "0 3,15 * * *",
    "@hourly",
    "@yearly",
    "0 3 1 1 *",
    "0 3 1,15 * *",
    "0 3 1-7 * TUE",
    "0 3 */2 * *",
    "0 3 15W * *",
    "0 3 * * TUE#5",
    "0 3 * * TUE#1,THU#1",
    "0 3 * * SAT-MON",
    "0 3 * * */2",
    "0 3 * JAN-MAR TUE",
    "0 25 * * *",
    "nonsense",
    "",
  ])("“%s” has none, and stays an expression", (cron) => {
    const times = readTimes(cron);
    expect(times).toMatchObject({ repeats: "cron", cron });
    expect(cronOf(times)).toBe(cron);
    expect(describeTimes(times)).toBeUndefined();
  });

  test("occurs at the same times as the expression that the fields make of it", () => {
    const minute = fc.integer({ min: 0, max: 59 });
    const hour = fc.integer({ min: 0, max: 23 });
    const day = fc.oneof(fc.constant("*"), fc.integer({ min: 1, max: 31 }), fc.constant("L"));
    const weekday = fc.oneof(
      fc.constantFrom("*", "1-5", "5-7", "0", "7", "6,0", "MON-WED,SAT"),
      fc
        .tuple(fc.constantFrom(...WEEKDAYS), fc.constantFrom("", "#1", "#4", "#L"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(minute, hour, day, weekday, (...fields) => {
        const [minutes, hours, monthDay, weekDay] = fields;
        const cron = `${minutes} ${hours} ${monthDay} * ${weekDay}`;
        const times = readTimes(cron);
        fc.pre(times.repeats !== "cron");
        const list = (expression: string) =>
          crons().read(expression, "Europe/Berlin").list(Date.UTC(2026, 0), { count: 20 });
        expect(list(String(cronOf(times)))).toEqual(list(cron));
      }),
    );
  });
});

describe("plain fields", () => {
  const initial = readTimes("0 2 * * *");

  test("make an expression that is read back as the same fields", () => {
    const clock = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":"));
    const times = fc.record({
      repeats: fc.constantFrom("daily", "weekdays", "weekly", "month_day", "month_weekday"),
      at: clock,
      // Five work days are the work week, and seven days every day.
      days: fc.subarray([...WEEKDAYS], { minLength: 1, maxLength: 4 }),
      monthDay: fc.oneof(fc.integer({ min: 1, max: 31 }).map(String), fc.constant("L")),
      week: fc.constantFrom(...Object.keys(WEEK_NAMES)),
      weekday: fc.constantFrom(...WEEKDAYS),
    });
    const OWN = {
      daily: [],
      weekdays: [],
      weekly: ["days"],
      month_day: ["monthDay"],
      month_weekday: ["week", "weekday"],
    } as const;
    fc.assert(
      fc.property(times, (fields) => {
        const typed = { ...initial, ...fields } as Times;
        const again = readTimes(String(cronOf(typed)));
        for (const name of ["repeats", "at", ...OWN[fields.repeats as keyof typeof OWN]] as const) {
          expect(again[name]).toEqual(typed[name]);
        }
      }),
    );
  });

  test.each([
    [{ at: "" }, "at"],
    [{ at: "24:00" }, "at"],
    [{ at: "3:00" }, "at"],
    [{ repeats: "weekly", days: [] }, "days"],
    [{ repeats: "weekly", days: ["tomorrow"] }, "days"],
    [{ repeats: "month_day", monthDay: "32" }, "monthDay"],
    [{ repeats: "month_day", monthDay: "" }, "monthDay"],
    [{ repeats: "month_weekday", week: "5" }, "week"],
    [{ repeats: "month_weekday", weekday: "toString" }, "week"],
  ])("%j are wrong at %s", (fields, field) => {
    expect(cronOf({ ...initial, ...(fields as Partial<Times>) })).toMatchObject({ field });
  });
});
