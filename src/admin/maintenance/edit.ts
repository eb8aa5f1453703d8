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

/** Typed values of the form that edits a maintenance. */
export interface EditValues extends ScheduleValues {
  name: string;
  /** Ids of components. */
  components: readonly string[];
}

/** Returns the form values of a stored maintenance. */
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

/** Reads the typed values. */
export function readEdit(form: Form): EditValues {
  return {
    name: form.text("name"),
    components: readComponents(form),
    ...readSchedule(form),
    lasts: UNTIL,
  };
}

/**
 * Returns true if a submitted form had time fields, so that the times could still be changed when
 * it was rendered.
 */
export function hasTimes(form: Form): boolean {
  return form.all("scheduled_for").length > 0;
}

/** Returns the requested change. Times and flags are included only while they can be changed. */
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

/** Returns the rejection of an edit. Any other error is rethrown. */
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
