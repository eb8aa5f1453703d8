import type {
  Maintenance,
  MaintenanceRow,
  UpdateMaintenanceBody,
} from "../../features/maintenance";
import type { Form } from "../../http";
import { formatDateTimeInput } from "../date-time-input";
import { type FormRejection, rejectionOrThrow } from "../stale";
import { aboutComponents, readComponents } from "./plan";
import {
  aboutSchedule,
  NEVER,
  readSchedule,
  type ScheduleValues,
  toSchedule,
  UNTIL,
} from "./schedule";

/** What stands in the form that edits a maintenance. */
export interface EditValues extends ScheduleValues {
  name: string;
  /** Ids. */
  components: readonly string[];
}

/** A maintenance as it is. */
export function storedValues(maintenance: Maintenance): EditValues {
  const remind = maintenance.remind_minutes_before;
  return {
    name: maintenance.name,
    components: maintenance.components.map(({ id }) => id),
    scheduledFor: formatDateTimeInput(maintenance.scheduled_for),
    scheduledUntil: formatDateTimeInput(maintenance.scheduled_until),
    lasts: UNTIL,
    isAutoStart: maintenance.auto_start,
    isAutoComplete: maintenance.auto_complete,
    remind: remind === null ? NEVER : String(remind),
  };
}

/** What was typed, to be shown again. */
export function readEdit(form: Form): EditValues {
  return {
    name: form.text("name"),
    components: readComponents(form),
    ...readSchedule(form),
    lasts: UNTIL,
  };
}

/** Whether a form asks for the times: it was shown while these could be changed. */
export function hasTimes(form: Form): boolean {
  return form.all("scheduled_for").length > 0;
}

/** The change that a form asks for: of the times and flags only while these can be changed. */
export function toEdit(
  values: EditValues,
  { status }: Pick<MaintenanceRow, "status">,
): UpdateMaintenanceBody {
  return {
    name: values.name.trim(),
    components: [...values.components],
    ...(status === "scheduled" ? toSchedule(values) : {}),
  };
}

/** Why an edit comes back to its form. Anything else is thrown on. */
export function editRejectionOrThrow(
  error: unknown,
  form: Form,
  values: EditValues,
): FormRejection {
  const rejection = rejectionOrThrow(error);
  const complaints = aboutComponents(rejection.complaints);
  if (rejection.status !== 422 || !hasTimes(form)) return { ...rejection, complaints };
  return { ...rejection, complaints: aboutSchedule(complaints, values) };
}
