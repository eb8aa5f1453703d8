import type { SummaryCursor } from "../features/incidents";
import { toIso } from "../kernel/time";

/** A calendar month in UTC. */
export interface Month {
  /** `YYYY-MM`. */
  name: string;
  /** Its first millisecond and that of the month after it, unix ms. */
  from: number;
  to: number;
  /** The months beside it; undefined before 1970 and in the future. */
  previous: string | undefined;
  next: string | undefined;
}

export const MONTH_PATTERN = "^[0-9]{4}-(0[1-9]|1[0-2])$";

/** The month of that name, or undefined if it is before 1970 or has not begun at `now` (unix ms). */
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

/** The month that a moment (unix ms) lies in. */
export function monthNameOf(ms: number): string {
  return toIso(ms).slice(0, 7);
}

/** A place in a month's history as a link has it: a beginning in unix ms, and the id of what began then. */
export const PLACE_PATTERN = "^[0-9]{1,15}-(?:inc|mnt)_[0-9a-z]+$";

export function placeText({ at, id }: SummaryCursor): string {
  return `${at}-${id}`;
}

/** Takes what the pattern has let through. */
export function placeOf(text: string | undefined): SummaryCursor | undefined {
  if (text === undefined) return undefined;
  const hyphen = text.indexOf("-");
  return { at: Number(text.slice(0, hyphen)), id: text.slice(hyphen + 1) };
}
