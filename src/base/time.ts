import { plural } from "./text";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Remaining time below which the dashboard warns about the expiry of a certificate or an API key. */
export const EXPIRES_SOON_MS = 14 * DAY_MS;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Formats a duration in whole units: "7 days", "24 hours", "1 hour". */
export function describeDuration(ms: number): string {
  return ms > DAY_MS
    ? plural(Math.round(ms / DAY_MS), "day")
    : plural(Math.round(ms / HOUR_MS), "hour");
}

/** Returns unix ms as ISO 8601 in UTC with milliseconds, the only format of times in the API. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

export function toIsoOrNull(ms: number | null): string | null {
  return ms === null ? null : toIso(ms);
}

/** Returns the first millisecond of the UTC day of a time in unix ms. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** Returns the first millisecond of a day `YYYY-MM-DD` in UTC; undefined if there is no such day. */
export function parseDay(text: string): number | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  const ms = new Date(0).setUTCFullYear(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  // A day that does not exist, such as 31 February, became another one.
  return toIso(ms).startsWith(text) ? ms : undefined;
}

/** Parses an ISO 8601 instant with a zone offset to unix ms; undefined for other text. */
export function parseInstant(text: string): number | undefined {
  if (!INSTANT.test(text) || parseDay(text.slice(0, 10)) === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const UTC_NAMES = /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu|Greenwich|GMT(?:[+-]?0)?)$/i;

/** Returns true if a time zone is one of the names of UTC. */
export function isUtcZone(timeZone: string): boolean {
  return UTC_NAMES.test(timeZone);
}
