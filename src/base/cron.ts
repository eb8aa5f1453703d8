import type { Cron } from "croner";
import { lazy } from "./lazy";
import { Text } from "./schema";
import { DAY_MS } from "./time";
import { firstShown, offsetOf, shownAt, zonedAt } from "./zones";

/** Maximum length of a cron expression, in code points. */
export const CRON_MAX = 100;

/** Cron expression in a body. */
export const CronText = Text({
  minLength: 1,
  maxLength: CRON_MAX,
  isName: true,
  isTrimmed: true,
  check: (value) => crons().errorOf(value),
  description:
    "Minute, hour, day of month, month and day of week, with `*`, lists, ranges, steps, names of months and days, `L` (last), `W` (nearest weekday) and `#` (such as `SUN#1`, the first Sunday). If neither day begins with `*`, either may match. Or `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly` or `@annually`.",
  examples: ["0 2 * * SUN#1"],
});

const FIELDS = ["minute", "hour", "day of month", "month", "day of week"] as const;

/**
 * Start of the years in which an expression is searched that may never occur, in unix ms. The library knows no
 * year from 3000 on. These 40 years have every date on every day of the week. A search of 400 years, its other
 * limit, would hold the event loop for up to 300 ms.
 */
const LAST_YEARS = Date.UTC(2960, 0);

/** Occurrences of a cron expression in a time zone. Times in unix ms. */
export interface Occurrences {
  /**
   * Returns the first occurrence after a time, or undefined if there is none in 400 years. An expression
   * for every hour has the same distance all year. Any other occurs once in an hour that the clock repeats,
   * at its first pass, and at the end of an hour that the clock skips.
   */
  next(after: number): number | undefined;
  /** Returns at most `count` occurrences after a time and before `until`, in order. */
  list(after: number, options: { count: number; until?: number }): number[];
}

/** Reads cron expressions. */
interface Crons {
  /** Returns an error such as `has no valid hour: 25`, or undefined. Expressions that never occur are errors. */
  errorOf(expression: string): string | undefined;
  /** Returns the occurrences of a valid expression in a time zone of the IANA database. Throws for others. */
  read(expression: string, timeZone: string): Occurrences;
}

/** Returns the reader of cron expressions. Its library is loaded at the first call, since few installations need it. */
export const crons = lazy((): Crons => {
  const { Cron, CronPattern } = require("croner") as typeof import("croner");

  const options = { mode: "5-part" as const };
  const isValid = (expression: string): boolean => {
    try {
      new CronPattern(expression, undefined, options);
      return true;
    } catch {
      return false;
    }
  };

  /** Reads an expression on a clock in UTC, which repeats and skips nothing. */
  function readLocal(expression: string): Cron {
    const fields = cronFields(expression);
    const [, , day = "", , weekday = ""] = fields;
    // Both days must match if one begins with a star, with steps too, as in Vixie cron.
    const domAndDow = /^[*?]/.test(day) || /^[*?]/.test(weekday);
    return new Cron(fields.join(" "), { ...options, utcOffset: 0, domAndDow });
  }

  return {
    errorOf(expression) {
      const fields = cronFields(expression);
      if (fields.length !== FIELDS.length) {
        return "must have five fields, minute, hour, day of month, month and day of week, or be a nickname such as @daily";
      }
      for (const [index, field] of fields.entries()) {
        const alone = FIELDS.map((_, each) => (each === index ? field : "*"));
        if (!isValid(alone.join(" "))) return `has no valid ${FIELDS[index]}: ${field}`;
      }
      const isFound = readLocal(expression).nextRun(new Date(LAST_YEARS)) !== null;
      return isFound ? undefined : "never occurs, since no month that it names has such a day";
    },

    read(expression, timeZone) {
      const { hour } = new CronPattern(cronFields(expression).join(" "), undefined, options);
      const local = readLocal(expression);
      const next = hour.every(Boolean)
        ? (after: number) => nextByElapsedTime(local, timeZone, after)
        : (after: number) => nextByClock(local, timeZone, after);
      return {
        next,
        list(after, { count, until = Infinity }) {
          const found: number[] = [];
          let at = next(after);
          while (at !== undefined && at < until && found.length < count) {
            found.push(at);
            at = next(at);
          }
          return found;
        },
      };
    },
  };
});

/** Expressions by their nicknames in crontabs. That of the start of a machine has no times. */
const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** Returns the five fields of an expression, of a nickname too; any number for a wrong expression. */
export function cronFields(expression: string): string[] {
  const trimmed = expression.trim();
  const nickname = trimmed.toLowerCase();
  const named = Object.hasOwn(NICKNAMES, nickname) ? NICKNAMES[nickname] : undefined;
  return (named ?? trimmed).split(/\s+/);
}

/** Finds the next occurrence of times that a clock shows, each of which occurs once. */
function nextByClock(local: Cron, timeZone: string, after: number): number | undefined {
  let shown = shownAt(after, timeZone);
  for (;;) {
    const found = local.nextRun(new Date(shown));
    if (!found) return undefined;
    shown = found.getTime();
    const at = firstShown(shown, timeZone);
    // The second pass of a repeated hour shows times whose first pass is over.
    if (at > after) return at;
  }
}

/** Finds the next occurrence of an expression for every hour: both passes of a repeated hour match. */
function nextByElapsedTime(local: Cron, timeZone: string, after: number): number | undefined {
  let from = after;
  for (;;) {
    const zoned = zonedAt(from + 1, timeZone);
    const found = local.nextRun(new Date(from + offsetOf(zoned)));
    if (!found) return undefined;
    const at = found.getTime() - offsetOf(zoned);
    const change = zoned.getTimeZoneTransition("next")?.epochMilliseconds ?? Infinity;
    if (at < change) return at;
    // After the change of the clock the same local time is another instant, less than a day away.
    from = Math.max(change - 1, at - DAY_MS);
  }
}
