import type { PlanMaintenanceBody } from "../../features/maintenance";
import type { Form } from "../../http";
import { type Complaints, complaintsOrThrow } from "../field-errors";
import { NOTIFY_LABEL } from "../notify-field";
import { multilineText } from "../multiline-text";
import {
  aboutSchedule,
  DURATIONS,
  readSchedule,
  type ScheduleValues,
  toSchedule,
} from "./schedule";

/** Typed values of the form for a new maintenance. */
export interface PlanValues extends ScheduleValues {
  name: string;
  /** Ids of components. */
  components: readonly string[];
  body: string;
  isNotifying: boolean;
}

/** Labels by the service's field names, in the order of the form. */
export const PLAN_LABELS = {
  page: "Page",
  name: "Name",
  components: "Components",
  scheduled_for: "Starts at (UTC)",
  lasts: "Lasts",
  scheduled_until: "Ends at (UTC)",
  body: "Message",
  auto_start: "Start automatically",
  auto_complete: "Complete automatically",
  remind_minutes_before: "Remind people",
  notify: NOTIFY_LABEL,
} as const;

/**
 * Ids read from a form: one more than a page can have, so that the service rejects longer lists.
 */
const COMPONENTS_MAX = 1_001;

export const EMPTY_PLAN: PlanValues = {
  name: "",
  components: [],
  body: "",
  scheduledFor: "",
  scheduledUntil: "",
  lasts: DURATIONS[1],
  isAutoStart: true,
  isAutoComplete: true,
  remind: "60",
  isNotifying: true,
};

/** Reads the typed values. */
export function readPlan(form: Form): PlanValues {
  return {
    name: form.text("name"),
    components: readComponents(form),
    body: multilineText(form, "body"),
    ...readSchedule(form),
    isNotifying: form.text("notify") === "yes",
  };
}

/** Returns the ids of the checked components. The service validates them. */
export function readComponents(form: Form): string[] {
  return form.all("components").slice(0, COMPONENTS_MAX);
}

/** Converts form values to a new maintenance on a page. The service validates them. */
export function toPlan(values: PlanValues, page: string): PlanMaintenanceBody {
  return {
    page,
    name: values.name.trim(),
    body: values.body.trim(),
    components: [...values.components],
    ...toSchedule(values),
    notify: values.isNotifying,
  };
}

/** Returns a refusal as errors of the form's fields. Any other error is rethrown. */
export function planComplaintsOrThrow(error: unknown, values: ScheduleValues): Complaints {
  return aboutSchedule(aboutComponents(complaintsOrThrow(error)), values);
}

/** Replaces errors of single components by one error of the component list. */
export function aboutComponents(complaints: Complaints): Complaints {
  if (!("components" in complaints)) return complaints;
  return { ...complaints, components: "Choose components that are on the page." };
}
