import { parseInstant } from "../kernel/time";

// What a browser sends of a `datetime-local`, and what people type where a browser has no such field.
const TYPED = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)Z?$/;

/** How a moment is to be typed, as the end of a sentence about a field. */
export const DATE_TIME_ERROR = "must be a date and a time such as 2027-01-31 14:00";

/**
 * A moment as it stands in a field, `YYYY-MM-DDTHH:MM` in UTC with seconds where it has them, as ISO
 * 8601 with its zone. Undefined for what is none, such as 30 February.
 */
export function parseDateTimeInput(typed: string): string | undefined {
  const match = TYPED.exec(typed.trim());
  if (!match) return undefined;
  const ms = parseInstant(`${match[1]}T${match[2]}Z`);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/**
 * An ISO 8601 instant in UTC as it stands in a field. Seconds are written where it has any, so that a
 * form which is sent as it came changes nothing.
 */
export function formatDateTimeInput(iso: string): string {
  return iso
    .replace(/Z$/, "")
    .replace(/\.0+$/, "")
    .replace(/^(.{16}):00$/, "$1");
}
