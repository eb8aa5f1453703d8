import { parseInstant } from "../kernel/time";

// Values that browsers send for `datetime-local`, and text typed in browsers without such a field.
const TYPED = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)Z?$/;

/** Error of a date and time field, as the continuation of its label. */
export const DATE_TIME_ERROR = "must be a date and a time such as 2027-01-31 14:00";

/**
 * Converts the text of a date and time field, `YYYY-MM-DDTHH:MM[:SS]` in UTC, to ISO 8601 with a
 * zone. Undefined for invalid text such as 30 February.
 */
export function parseDateTimeInput(typed: string): string | undefined {
  const match = TYPED.exec(typed.trim());
  if (!match) return undefined;
  const ms = parseInstant(`${match[1]}T${match[2]}Z`);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/**
 * Converts an ISO 8601 time in UTC to the text of a field. Seconds are kept, so that submitting an
 * unedited form changes nothing.
 */
export function formatDateTimeInput(iso: string): string {
  return iso
    .replace(/Z$/, "")
    .replace(/\.0+$/, "")
    .replace(/^(.{16}):00$/, "$1");
}
