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

/** What stands in the form for a new maintenance, as it was typed. */
export interface PlanValues extends ScheduleValues {
  name: string;
  /** Ids. */
  components: readonly string[];
  body: string;
  isNotifying: boolean;
}

/** The names of its fields as the service complains of them, in their order, with their labels. */
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

/** A list of ids that is longer than any page's is refused; no more of it is looked at. */
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

/** What was typed, to be shown again. */
export function readPlan(form: Form): PlanValues {
  return {
    name: form.text("name"),
    components: readComponents(form),
    body: multilineText(form, "body"),
    ...readSchedule(form),
    isNotifying: form.text("notify") === "yes",
  };
}

/** The components that are checked: ids, for the service to judge. */
export function readComponents(form: Form): string[] {
  return form.all("components").slice(0, COMPONENTS_MAX);
}

/** The maintenance that a form asks for on a page. All of it is for the service to judge. */
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

/** What a refusal says of the form's fields; one that is about something else is thrown on. */
export function planComplaintsOrThrow(error: unknown, values: ScheduleValues): Complaints {
  return aboutSchedule(aboutComponents(complaintsOrThrow(error)), values);
}

/** The same, but that what is wrong with the components is told of all of them. */
export function aboutComponents(complaints: Complaints): Complaints {
  if (!("components" in complaints)) return complaints;
  return { ...complaints, components: "Choose components that are on the page." };
}
