import { DAY_MS, MINUTE_MS } from "../../kernel/time";
import { plural } from "../../kernel/text";
import { duration } from "../../ui";
import { NEVER } from "./schedule";

const DAY_MINUTES = DAY_MS / MINUTE_MS;
const USUAL = [15, 60, 240, DAY_MINUTES, 2 * DAY_MINUTES, 7 * DAY_MINUTES];

/** Returns the time of a reminder as text: "1 h before", "2 days before", "Never". */
export function describeReminder(minutes: number | null): string {
  if (minutes === null) return "Never";
  const days = minutes / DAY_MINUTES;
  return `${Number.isInteger(days) ? plural(days, "day") : duration(minutes)} before`;
}

/** Returns the options: the usual ones, and `chosen` if it differs from them. */
export function reminderOptions(chosen: string): { value: string; label: string }[] {
  const own = Number(chosen);
  const isOther = Number.isInteger(own) && own > 0 && !USUAL.includes(own);
  const minutes = isOther ? [...USUAL, own].sort((a, b) => a - b) : USUAL;
  return [
    { value: NEVER, label: describeReminder(null) },
    ...minutes.map((each) => ({ value: String(each), label: describeReminder(each) })),
  ];
}
