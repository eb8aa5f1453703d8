import { MAINTENANCE_STATUSES, type MaintenanceStatus } from "../../../base/status";
import { plural } from "../../../base/text";
import { DAY_MS, MINUTE_MS } from "../../../base/time";
import { MAINTENANCE_WORDS } from "../../../public/state";
import { Fold } from "../../../ui/blocks";
import { ChoiceField, SelectField } from "../../../ui/choices";
import {
  dateTimeField,
  parseDateTimeInput,
  readDateTime,
  type TimeZoneContext,
} from "../../../ui/forms/date-time";
import { checkboxField, messageField, nameField, notifyField } from "../../../ui/forms/fields";
import { defineForm, type Field, InvalidInput, optional } from "../../../ui/forms/form";
import { componentsField, type PageComponents, rowsByGroup } from "../../../ui/forms/object-fields";
import { type PageContext, pageField } from "../../../ui/forms/page-field";
import { duration } from "../../../ui/times";
import { isAllowedTransition, isEnded } from "../rules";
import type { AddMaintenanceUpdateBody, PlanMaintenanceBody, UpdateMaintenanceBody } from "../wire";
import type { MaintenanceView } from "./view";

/** Field for the planned start. */
function startField(hint?: string) {
  return dateTimeField({
    label: "Starts at",
    isRequired: true,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Field for the planned end. */
const endField = dateTimeField({ label: "Ends at" });

/** Selectable durations in minutes, and the option to type the end. */
const DURATIONS = ["30", "60", "120", "240", "480"];
const UNTIL = "until";

interface TypedDuration {
  /** Minutes, or `until` if the end is typed. */
  lasts: string;
  end: string;
  /** Start from which the duration counts. */
  start: string;
}

/** Field for the planned end of a new maintenance, as a duration or a time. */
const durationField: Field<TypedDuration, string, TimeZoneContext> = {
  label: endField.label,
  initial: { lasts: "60", end: "", start: "" },
  inputs: { lasts: "Duration" },
  showError(error, { lasts, end }) {
    if (lasts === UNTIL) return endField.showError(error, end);
    return DURATIONS.includes(lasts)
      ? { input: "scheduled_for", detail: "is too late" }
      : { input: "lasts", detail: "Select a duration." };
  },
  read: (sent, name) => ({
    lasts: sent.text("lasts") || UNTIL,
    end: readDateTime(sent, name),
    start: readDateTime(sent, "scheduled_for"),
  }),
  toBody({ lasts, end, start }, context) {
    const from = parseDateTimeInput(start);
    if (lasts !== UNTIL) return endAfter(from, lasts);
    const until = parseDateTimeInput(end);
    // The service compares the times only if all other fields are valid.
    const isEarly = from !== undefined && until !== undefined && until <= from;
    return isEarly
      ? new InvalidInput("must be later than the start")
      : endField.toBody(end, context);
  },
  fromStored: (iso) => ({ lasts: UNTIL, end: endField.fromStored(iso), start: "" }),
  Input: ({ name, value: { lasts, end }, errors, context }) => (
    <ChoiceField
      legend="Duration"
      name="lasts"
      options={[
        ...DURATIONS.map((value) => ({ value, label: duration(Number(value)) })),
        { value: UNTIL, label: "Other end time" },
      ]}
      value={lasts}
      error={errors["lasts"]}
    >
      {endField.Input({ name, value: end, errors, context })}
    </ChoiceField>
  ),
};

const LATEST_TIME = "9999-12-31T23:59:59.999Z";

/** Returns the end by a start and a duration. An unknown duration is returned unchanged. */
function endAfter(start: string | undefined, minutes: string): string {
  if (!DURATIONS.includes(minutes)) return minutes;
  // An invalid start has an error of its own, so the end must not cause another one.
  if (start === undefined) return LATEST_TIME;
  return new Date(Date.parse(start) + Number(minutes) * MINUTE_MS).toISOString();
}

const autoStartField = checkboxField({
  label: "Start automatically",
  hint: "If unchecked, you start the maintenance with a button.",
  initial: true,
});

const autoCompleteField = checkboxField({
  label: "Complete automatically",
  hint: "If unchecked, the maintenance continues until you complete it with a button.",
  initial: true,
});

const DAY_MINUTES = DAY_MS / MINUTE_MS;
const USUAL_REMINDERS = [15, 60, 240, DAY_MINUTES, 2 * DAY_MINUTES, 7 * DAY_MINUTES];
const NEVER = "never";

/** Field for the time of the reminder, in minutes before the start; null for none. */
export const reminderField: Field<string, number | null> = {
  label: "Reminder",
  initial: "60",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => (typed === NEVER ? null : Number(typed || Number.NaN)),
  fromStored: (minutes) => (minutes === null ? NEVER : String(minutes)),
  Input: ({ name, value, errors }) => (
    <SelectField
      label="Reminder"
      name={name}
      hint="Notification before the start. Not sent if its time has already passed."
      options={reminderOptions(value)}
      value={value}
      error={errors[name]}
    />
  ),
};

/** Returns the usual times, and the selected one if it is another. */
function reminderOptions(selected: string): { value: string; label: string }[] {
  const minutes = Number(selected);
  const isOther = Number.isInteger(minutes) && minutes > 0 && !USUAL_REMINDERS.includes(minutes);
  const all = isOther ? [...USUAL_REMINDERS, minutes].sort((a, b) => a - b) : USUAL_REMINDERS;
  return [
    { value: NEVER, label: describeReminder(null) },
    ...all.map((each) => ({ value: String(each), label: describeReminder(each) })),
  ];
}

/** Returns the time of a reminder as text: "1 h before", "2 days before", "Never". */
export function describeReminder(minutes: number | null): string {
  if (minutes === null) return "Never";
  const days = minutes / DAY_MINUTES;
  return `${Number.isInteger(days) ? plural(days, "day") : duration(minutes)} before`;
}

/**
 * Shows a field of the edit form only for scheduled maintenance. `Typed` is null for a form that
 * was rendered after the start, which does not have the field and so does not change it.
 */
function whileScheduled<Typed, Body>(
  field: Field<Typed, Body, MaintenanceView>,
): Field<Typed | null, Body, MaintenanceView> {
  return {
    ...field,
    // Browsers omit checkboxes that are not checked, but always send the start.
    read: (sent, name) => (sent.all("scheduled_for").length > 0 ? field.read(sent, name) : null),
    toBody: (typed, context) => (typed === null ? undefined : field.toBody(typed, context)),
    Input: (props) =>
      props.context.maintenance.status === "scheduled"
        ? field.Input({ ...props, value: props.value ?? field.initial })
        : null,
  };
}

/** Field for the components that are under maintenance. */
export const affectedField = componentsField<
  PageComponents & Partial<Pick<MaintenanceView, "missingComponents">>
>({
  hint: "Their status is “Under maintenance” from start to end.",
  unknown: "Select components of the page.",
  partsOf({ missingComponents = [], ...page }) {
    const { parts } = rowsByGroup(page, (component) => component);
    return missingComponents.length === 0
      ? parts
      : [...parts, { key: "gone", title: "No longer on the page", rows: missingComponents }];
  },
});

/** Form for a new maintenance. */
export const PLAN_FORM = defineForm<PlanMaintenanceBody, PageContext & PageComponents>()(
  {
    page: pageField(),
    name: nameField({ hint: "A short summary, such as “Database upgrade”." }),
    components: affectedField,
    scheduled_for: startField("Can be in the past, to record maintenance afterwards."),
    scheduled_until: durationField,
    body: messageField({
      label: "Message",
      hint: "What is planned and what users will notice. Markdown.",
    }),
    auto_start: autoStartField,
    auto_complete: autoCompleteField,
    remind_minutes_before: reminderField,
    notify: notifyField(", also not at the start and end"),
  },
  { advanced: ["auto_start", "auto_complete", "remind_minutes_before", "notify"] },
);

/** Field for the end, which can also be moved after the start. Typed is null for a form without it. */
const movableEndField: Field<string | null, string, MaintenanceView> = {
  ...whileScheduled(endField),
  read: (sent, name) => (sent.all(name).length > 0 ? endField.read(sent, name) : null),
  Input: (props) =>
    isEnded(props.context.maintenance.status)
      ? null
      : endField.Input({ ...props, value: props.value ?? endField.initial }),
};

/** Form that edits a maintenance. */
export const MAINTENANCE_FORM = defineForm<UpdateMaintenanceBody, MaintenanceView>()({
  name: nameField(),
  components: affectedField,
  scheduled_for: whileScheduled(startField()),
  scheduled_until: movableEndField,
  auto_start: whileScheduled(autoStartField),
  auto_complete: whileScheduled(autoCompleteField),
  remind_minutes_before: whileScheduled(reminderField),
});

/**
 * Field for the next status. Empty keeps the current status, even if it changed after the form was
 * rendered. Cancelling has a form of its own.
 */
const statusField: Field<string, MaintenanceStatus, MaintenanceView> = {
  label: "Status",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => (typed === "" ? undefined : (typed as MaintenanceStatus)),
  fromStored: (status) => status,
  Input({ name, value, errors, context }) {
    const { status } = context.maintenance;
    const next = MAINTENANCE_STATUSES.filter(
      (other) => other !== "cancelled" && isAllowedTransition(status, other),
    );
    return (
      <ChoiceField
        legend="Status"
        name={name}
        options={[
          { value: "", label: MAINTENANCE_WORDS[status] },
          ...next.map((other) => ({ value: other, label: MAINTENANCE_WORDS[other] })),
        ]}
        value={value}
        error={errors[name]}
      />
    );
  },
};

const displayAtField: Field<string, string, TimeZoneContext> = optional(
  dateTimeField({
    label: "Took effect at",
    hint: "Empty means now. Must not be before the previous update.",
  }),
);

/** Form for the next update of a maintenance. */
export const UPDATE_FORM = defineForm<AddMaintenanceUpdateBody, MaintenanceView>()({
  status: statusField,
  body: messageField({ label: "Message", hint: "What visitors should know now. Markdown." }),
  display_at: {
    ...displayAtField,
    Input: (props) => (
      <Fold
        title="Backdate the update"
        isOpen={props.value !== "" || props.errors[props.name] !== undefined}
      >
        {displayAtField.Input(props)}
      </Fold>
    ),
  },
  notify: notifyField(),
});

/** Fields of that form without `notify`, which is in the foot of the form. */
export const UPDATE_FIELDS = UPDATE_FORM.pick("status", "body", "display_at");

/** Form for the message of a step. */
export const STEP_FORM = UPDATE_FORM.pick("body", "notify");
