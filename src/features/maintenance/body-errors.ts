import type { Reader } from "../../db/statements";
import { FieldErrors, type IsInvalidField } from "../../base/validation";
import { findNamedPage } from "../pages/filter";
import { chooseComponents } from "./affected-components";
import type { AddMaintenanceUpdateBody, PlanMaintenanceBody, UpdateMaintenanceBody } from "./model";
import { readTimes } from "./plan";
import { readDisplayTime } from "./progress";
import { findMaintenanceRecord } from "./records";

/** Returns the unknown references and the impossible times in the body of a new maintenance. */
export function planMaintenanceErrors(
  reader: Reader,
  input: Partial<PlanMaintenanceBody>,
): FieldErrors {
  const errors = new FieldErrors();
  const page = input.page === undefined ? undefined : findNamedPage(reader, errors, input.page);
  if (page) chooseComponents(reader, page.id, input.components ?? [], [], errors);
  if (input.scheduled_for !== undefined && input.scheduled_until !== undefined) {
    readTimes(input, { scheduledFor: 0, scheduledUntil: 0 }, errors);
  }
  return errors;
}

/** Returns the unknown references and the impossible times in a change of a maintenance. */
export function updateMaintenanceErrors(
  reader: Reader,
  id: string,
  input: Partial<UpdateMaintenanceBody>,
  isInvalid: IsInvalidField,
): FieldErrors {
  const errors = new FieldErrors();
  const record = findMaintenanceRecord(reader, id);
  if (!record) return errors;
  const { row, components } = record;
  if (input.components) {
    chooseComponents(reader, row.pageId, input.components, components, errors);
  }
  if (!isInvalid("scheduled_for") && !isInvalid("scheduled_until")) readTimes(input, row, errors);
  return errors;
}

/** Returns the impossible time in the body of an update of a maintenance. */
export function addMaintenanceUpdateErrors(
  reader: Reader,
  id: string,
  input: Partial<AddMaintenanceUpdateBody>,
  now: number,
): FieldErrors {
  const errors = new FieldErrors();
  const record = findMaintenanceRecord(reader, id);
  if (record) readDisplayTime(input.display_at, record.updates[0]?.displayAt ?? now, now, errors);
  return errors;
}
