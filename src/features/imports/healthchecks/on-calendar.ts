import { isTimeZone } from "../../pages/rules";

/*
 * Calendar expressions of systemd, as Healthchecks takes them: `Mon..Fri *-*-* 02:00`. Those that a cron expression
 * says exactly are converted. Others have seconds, years, several lines, or weekdays that must be certain days too.
 */

const SHORTHANDS: Readonly<Record<string, string>> = {
  minutely: "* * * * *",
  hourly: "0 * * * *",
  daily: "0 0 * * *",
  weekly: "0 0 * * 1",
  monthly: "0 0 1 * *",
  quarterly: "0 0 1 1,4,7,10 *",
  semiannually: "0 0 1 1,7 *",
  yearly: "0 0 1 1 *",
  annually: "0 0 1 1 *",
};

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** A cron expression with the time zone that the calendar expression names, if any. */
interface Converted {
  cron: string;
  timeZone: string | undefined;
}

/** Converts a calendar expression; undefined for one that is not valid, or that no cron expression says exactly. */
export function cronOfCalendar(expression: string): Converted | undefined {
  const words = expression.trim().split(/[ \t]+/);
  const last = words.at(-1) ?? "";
  const timeZone = words.length > 1 && isZoneWord(last) ? last : undefined;
  const cron = cronOfWords(timeZone === undefined ? words : words.slice(0, -1));
  return cron === undefined ? undefined : { cron, timeZone };
}

function isZoneWord(word: string): boolean {
  return (
    (word === "UTC" || word.includes("/")) && !/[\d:*]/.test(word.slice(0, 1)) && isTimeZone(word)
  );
}

function cronOfWords(words: string[]): string | undefined {
  const [first = ""] = words;
  const shorthand = first.toLowerCase();
  if (Object.hasOwn(SHORTHANDS, shorthand)) {
    return words.length === 1 ? SHORTHANDS[shorthand] : undefined;
  }
  const rest = [...words];
  const weekdays = /^[a-z]/i.test(first) ? weekdaysOf(rest.shift() ?? "") : "*";
  const date = rest[0]?.includes(":") === false ? rest.shift() : "*-*-*";
  const time = rest.shift() ?? "00:00";
  if (rest.length > 0 || weekdays === undefined) return undefined;
  const [minute, hour] = timeOf(time);
  const [day, month] = dateOf(date ?? "");
  const days = day === undefined ? undefined : daysOf(day, weekdays);
  if (minute === undefined || hour === undefined || month === undefined) return undefined;
  return days && `${minute} ${hour} ${days.day} ${month} ${days.weekday}`;
}

/** Returns minute and hour of a time whose second is 0. */
function timeOf(time: string): (string | undefined)[] {
  const [hour = "", minute = "", second = "0", ...rest] = time.split(":");
  if (rest.length > 0 || !/^0{1,2}$/.test(second)) return [];
  return [fieldOf(minute, 0, 59), fieldOf(hour, 0, 23)];
}

/** Returns day and month of a date in any year. */
function dateOf(date: string): (string | undefined)[] {
  // The last day of the month is `~1`.
  const parts = date.replace(/[-~]0?1$/, (end) => (end.startsWith("~") ? "-L" : end)).split("-");
  const [day = "", month = "", year = "*", ...rest] = parts.toReversed();
  if (rest.length > 0 || year !== "*") return [];
  return [day === "L" ? day : fieldOf(day, 1, 31), fieldOf(month, 1, 12)];
}

/**
 * Returns the fields for days and weekdays. In a calendar expression both must match, and in a cron expression one of
 * them, unless one is `*`. A weekday of the first seven days is that of the first week, and so on.
 */
function daysOf(day: string, weekday: string): { day: string; weekday: string } | undefined {
  if (day === "*" || weekday === "*") return { day, weekday };
  const [, from, to] = /^(\d+)-(\d+)$/.exec(day) ?? [];
  const week = (Number(from) + 6) / 7;
  const isWeek = Number.isInteger(week) && week <= 4 && Number(to) === Number(from) + 6;
  return isWeek && /^\d$/.test(weekday) ? { day: "*", weekday: `${weekday}#${week}` } : undefined;
}

/** Returns a list of values, ranges and steps as a field of a cron expression. */
function fieldOf(text: string, least: number, most: number): string | undefined {
  if (text === "*") return "*";
  const parts = text.split(",").map((part) => {
    const [, every, from = every, to, step] =
      /^(?:(\*)|(\d{1,2})(?:\.\.(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    // A repetition from `*` begins at 0.
    const start = from === "*" ? 0 : Number(from);
    const end = to === undefined ? (step === undefined ? start : most) : Number(to);
    const isValid = start >= least && end <= most && start <= end && step !== "0" && step !== "00";
    if (from === undefined || (from === "*" && step === undefined) || !isValid) return undefined;
    const range = start === end ? `${start}` : `${start}-${end}`;
    return step === undefined || start === end ? range : `${range}/${Number(step)}`;
  });
  return parts.includes(undefined) ? undefined : parts.join(",");
}

/** Returns the numbers of weekdays, from 0 for Sunday. */
function weekdaysOf(text: string): string | undefined {
  const numbers = text.split(",").flatMap((part): (number | undefined)[] => {
    const [from, to, ...rest] = part.split("..").map(weekdayOf);
    if (rest.length > 0 || from === undefined) return [undefined];
    if (!part.includes("..")) return [from];
    if (to === undefined) return [undefined];
    const length = ((to - from + 7) % 7) + 1;
    return Array.from({ length }, (_, index) => (from + index) % 7);
  });
  if (numbers.includes(undefined)) return undefined;
  const sorted = [...new Set(numbers)].toSorted((a, b) => Number(a) - Number(b));
  return sorted.length === 7 ? "*" : sorted.join(",");
}

function weekdayOf(name: string): number | undefined {
  const lower = name.toLowerCase();
  const number = WEEKDAYS.findIndex((day) => lower === day || lower === day.slice(0, 3));
  return number < 0 ? undefined : number;
}
