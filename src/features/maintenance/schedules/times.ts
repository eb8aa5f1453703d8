/*
 * Times of schedules without cron: which expressions people can set in plain fields (`readTimes`), the expression of
 * such fields (`cronOf`), and their words (`describeTimes`).
 */
import { cronFields } from "../../../base/cron";

/** Ways to repeat. The last one is any cron expression. */
export const REPEATS = [
  "daily",
  "weekdays",
  "weekly",
  "month_day",
  "month_weekday",
  "cron",
] as const;
export type Repeat = (typeof REPEATS)[number];

/** Days of the week as cron writes them, from Monday. */
export const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;

export const WEEKDAY_NAMES: Readonly<Record<string, string>> = {
  MON: "Monday",
  TUE: "Tuesday",
  WED: "Wednesday",
  THU: "Thursday",
  FRI: "Friday",
  SAT: "Saturday",
  SUN: "Sunday",
};

/** Weeks of a month in which a weekday can be, as cron writes them. */
export const WEEK_NAMES: Readonly<Record<string, string>> = {
  1: "First",
  2: "Second",
  3: "Third",
  4: "Fourth",
  L: "Last",
};

/** Last day of a month, as cron writes it. */
export const LAST_DAY = "L";

/** Fields of the times of a schedule, as people type them. Those of other ways to repeat have no effect. */
export interface Times {
  repeats: Repeat;
  /** Time of the day, `HH:MM`. */
  at: string;
  /** Days of the week, of `WEEKDAYS`. */
  days: readonly string[];
  /** Day of the month, 1 to 31, or `LAST_DAY`. */
  monthDay: string;
  /** Week of the month, a key of `WEEK_NAMES`, and the day in it. */
  week: string;
  weekday: string;
  cron: string;
}

const INITIAL: Times = {
  repeats: "daily",
  at: "02:00",
  days: ["SUN"],
  monthDay: "1",
  week: "1",
  weekday: "SUN",
  cron: "",
};

/** Returns the fields that say what a cron expression does: plain ones if there are any. */
export function readTimes(cron: string): Times {
  const other: Times = { ...INITIAL, repeats: "cron", cron };
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = cronFields(cron);
  const at = clockOf(hour, minute);
  if (at === undefined || month !== "*") return other;
  const times = { ...other, at };
  const isEveryDay = day === "*";
  if (weekday === "*") {
    if (isEveryDay) return { ...times, repeats: "daily" };
    const isDay =
      day === LAST_DAY || (/^\d{1,2}$/.test(day) && Number(day) >= 1 && Number(day) <= 31);
    const monthDay = day === LAST_DAY ? day : String(Number(day));
    return isDay ? { ...times, repeats: "month_day", monthDay } : other;
  }
  if (!isEveryDay) return other;
  const [, name = "", week = ""] = /^(\w+)#([1-4L])$/i.exec(weekday) ?? [];
  const nth = dayOfWeek(name);
  if (nth !== undefined) {
    return { ...times, repeats: "month_weekday", week: week.toUpperCase(), weekday: nth };
  }
  const days = daysOfWeek(weekday);
  if (days === undefined) return other;
  if (days.length === WEEKDAYS.length) return { ...times, repeats: "daily" };
  const isWorkWeek = String(days) === String(WEEKDAYS.slice(0, 5));
  return isWorkWeek ? { ...times, repeats: "weekdays" } : { ...times, repeats: "weekly", days };
}

/** Returns the time of two fields with a number each, such as "03:00". */
function clockOf(hour: string, minute: string): string | undefined {
  if (!/^\d{1,2}$/.test(hour) || !/^\d{1,2}$/.test(minute)) return undefined;
  const text = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  return CLOCK.test(text) ? text : undefined;
}

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Returns the day of a name, or of a number: 0 and 7 are Sunday. */
function dayOfWeek(text: string): string | undefined {
  if (/^[0-7]$/.test(text)) return WEEKDAYS[(Number(text) + 6) % 7];
  return WEEKDAYS.find((day) => day === text.toUpperCase());
}

/** Returns the days of a list of names, numbers and ranges, from Monday; undefined for anything else. */
function daysOfWeek(text: string): string[] | undefined {
  const found = new Set<string>();
  for (const part of text.split(",")) {
    const [first, last, ...more] = part.split("-").map(dayOfWeek);
    if (first === undefined || more.length > 0) return undefined;
    if (!part.includes("-")) {
      found.add(first);
      continue;
    }
    const [from, to] = [orderOf(first), last === undefined ? -1 : orderOf(last)];
    if (to < from) return undefined;
    for (const day of WEEKDAYS.slice(from, to + 1)) found.add(day);
  }
  return WEEKDAYS.filter((day) => found.has(day));
}

function orderOf(day: string): number {
  return WEEKDAYS.findIndex((each) => each === day);
}

/** Field of times whose content is wrong. */
type TimesField = Exclude<keyof Times, "repeats" | "cron">;

/** Returns the cron expression of the fields, or the first error. An expression that was typed is not examined. */
export function cronOf(times: Times): string | { field: TimesField; detail: string } {
  const { repeats, at, days, monthDay, week, weekday, cron } = times;
  if (repeats === "cron") return cron;
  if (!CLOCK.test(at)) return { field: "at", detail: "must be a time such as 03:00" };
  const [hour, minute] = at.split(":").map(Number);
  const own = WEEKDAYS.filter((day) => days.includes(day));
  switch (repeats) {
    case "daily":
      return `${minute} ${hour} * * *`;
    case "weekdays":
      return `${minute} ${hour} * * MON-FRI`;
    case "weekly":
      if (own.length === 0) return { field: "days", detail: "Select at least one day." };
      return `${minute} ${hour} * * ${own.join(",")}`;
    case "month_day":
      if (monthDay !== LAST_DAY && !/^(?:[1-9]|[12]\d|3[01])$/.test(monthDay)) {
        return { field: "monthDay", detail: "Select a day." };
      }
      return `${minute} ${hour} ${monthDay} * *`;
    case "month_weekday":
      if (!Object.hasOwn(WEEK_NAMES, week) || !Object.hasOwn(WEEKDAY_NAMES, weekday)) {
        return { field: "week", detail: "Select a week and a day." };
      }
      return `${minute} ${hour} * * ${weekday}#${week}`;
  }
}

/** Returns times as text, such as "Every Tuesday and Friday at 03:00"; undefined for a cron expression. */
export function describeTimes({ repeats, ...times }: Times): string | undefined {
  const { at, days, monthDay, week, weekday } = times;
  const names = days.map((day) => WEEKDAY_NAMES[day] ?? day);
  const listed = [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");
  switch (repeats) {
    case "daily":
      return `Every day at ${at}`;
    case "weekdays":
      return `Monday to Friday at ${at}`;
    case "weekly":
      return `Every ${listed} at ${at}`;
    case "month_day":
      return `${monthDay === LAST_DAY ? "Last day" : `Day ${monthDay}`} of every month at ${at}`;
    case "month_weekday":
      return `${WEEK_NAMES[week]} ${WEEKDAY_NAMES[weekday]} of every month at ${at}`;
    case "cron":
      return undefined;
  }
}
