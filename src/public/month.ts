import type { SummaryCursor } from "../features/timeline/store";
import { DAY_MS, startOfDay, toIso } from "../base/time";
import type { PageTimes } from "./page-times";

/** A calendar month in the time zone of a page. */
export interface Month {
  /** `YYYY-MM`. */
  name: string;
  /** Start of the month and of the next one, in unix ms. */
  from: number;
  to: number;
  /** Names of the adjacent months; undefined before 1970 and in the future. */
  previous: string | undefined;
  next: string | undefined;
}

export const MONTH_PATTERN = "^[0-9]{4}-(0[1-9]|1[0-2])$";

/** Days of the dashboard. */
export const UTC_DAYS = { dayOf: startOfDay, startOf: (day: number) => day };

/**
 * Returns the month of a name, by default the present one; undefined if it is before 1970 or starts after `now` (unix
 * ms).
 */
export function monthOf(
  name: string | undefined,
  now: number,
  times: Pick<PageTimes, "dayOf" | "startOf">,
): Month | undefined {
  const present = monthNameOf(times.dayOf(now));
  const shown = name ?? present;
  const [year = 0, number = 0] = shown.split("-").map(Number);
  if (year < 1970 || shown > present) return undefined;
  const [first, next] = [Date.UTC(year, number - 1), Date.UTC(year, number)];
  return {
    name: shown,
    from: times.startOf(first),
    to: times.startOf(next),
    previous: first > 0 ? monthNameOf(first - DAY_MS) : undefined,
    next: shown < present ? monthNameOf(next) : undefined,
  };
}

/** Returns the name of the month of a UTC day or a day of a page, in unix ms. */
export function monthNameOf(day: number): string {
  return toIso(day).slice(0, 7);
}

/** Cursor in the history of a month: start in unix ms and id of an entry. */
export const CURSOR_PATTERN = "^[0-9]{1,15}-(?:inc|mnt)_[0-9a-z]+$";

/** Returns a cursor as the text used in links. */
export function formatCursor({ at, id }: SummaryCursor): string {
  return `${at}-${id}`;
}

/** Reads a cursor that matches the pattern. */
export function parseCursor(text: string | undefined): SummaryCursor | undefined {
  if (text === undefined) return undefined;
  const hyphen = text.indexOf("-");
  return { at: Number(text.slice(0, hyphen)), id: text.slice(hyphen + 1) };
}
