import type { SummaryCursor } from "../features/timeline";
import { toIso } from "../kernel/time";

/** A calendar month in UTC. */
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

/** Returns the month of a name, or undefined if it is before 1970 or starts after `now` (unix ms). */
export function monthOf(name: string, now: number): Month | undefined {
  const [year = 0, number = 0] = name.split("-").map(Number);
  const from = Date.UTC(year, number - 1);
  const to = Date.UTC(year, number);
  if (year < 1970 || from > now) return undefined;
  return {
    name,
    from,
    to,
    previous: from > 0 ? monthNameOf(from - 1) : undefined,
    next: to <= now ? monthNameOf(to) : undefined,
  };
}

/** Returns the name of the month of a time in unix ms. */
export function monthNameOf(ms: number): string {
  return toIso(ms).slice(0, 7);
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
