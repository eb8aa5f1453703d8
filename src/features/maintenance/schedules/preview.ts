import { type Static, Type } from "@sinclair/typebox";
import { schemaErrors } from "../../../base/validation";
import { ScheduleFields } from "./model";
import { listOccurrences } from "./rules";

/** Number of occurrences that a form shows. */
const SHOWN = 5;

const CalendarFields = Type.Pick(Type.Object(ScheduleFields), [
  "cron",
  "every_days",
  "time_zone",
  "starts_on",
  "ends_on",
]);

/**
 * Returns the next five occurrences of fields that may be wrong, after `now` in unix ms; none if a field is
 * wrong. `timeZone` is the one of the page.
 */
export function previewOccurrences(
  input: Partial<Static<typeof CalendarFields>>,
  timeZone: string,
  now: number,
): number[] {
  const { cron = "", every_days = null, starts_on = null, ends_on = null, time_zone } = input;
  const zone = time_zone ?? timeZone;
  const fields = { cron, every_days, time_zone: zone, starts_on, ends_on };
  if (schemaErrors(CalendarFields, fields).length > 0) return [];
  const calendar = {
    cron,
    everyDays: every_days,
    timeZone: zone,
    startsOn: starts_on,
    endsOn: ends_on,
  };
  return listOccurrences(calendar, now, { count: SHOWN });
}
