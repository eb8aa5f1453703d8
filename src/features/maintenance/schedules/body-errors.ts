import type { Ctx } from "../../../context";
import { FieldErrors } from "../../../base/validation";
import { findNamedPage } from "../../pages/filter";
import { getPage } from "../../pages/service";
import { chooseComponents } from "../affected-components";
import type { CreateScheduleBody } from "./model";
import { findSchedule } from "./records";
import { findScheduleErrors } from "./rules";

/**
 * Returns the unknown references and the impossible times in the body of a new schedule, or in a change of the
 * one with an id.
 */
export function scheduleErrors(
  { db, clock }: Ctx,
  input: Partial<CreateScheduleBody>,
  id?: string,
): FieldErrors {
  const errors = new FieldErrors();
  const before = id === undefined ? undefined : findSchedule(db, id)?.row;
  if (id !== undefined && !before) return errors;
  const named = input.page === undefined ? undefined : findNamedPage(db, errors, input.page);
  const page = before ? getPage(db, before.pageId) : named;
  if (page) chooseComponents(db, page.id, input.components ?? [], [], errors);
  const orStored = <T>(given: T | undefined, stored: T | undefined, other: T): T =>
    given === undefined ? (stored ?? other) : given;
  const schedule = {
    cron: orStored(input.cron, before?.cron, "0 0 1 1 *"),
    timeZone: orStored(input.time_zone, before?.timeZone, "UTC"),
    everyDays: orStored(input.every_days, before?.everyDays, null),
    startsOn: orStored(input.starts_on, before?.startsOn, null),
    endsOn: orStored(input.ends_on, before?.endsOn, null),
    durationMinutes: orStored(input.duration_minutes, before?.durationMinutes, 1),
  };
  for (const { field, detail } of findScheduleErrors(schedule, clock.now())) {
    errors.add([field], detail);
  }
  return errors;
}
