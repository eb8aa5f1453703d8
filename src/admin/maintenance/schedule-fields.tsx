import { plural } from "../../base/text";
import { DAY_MS, MINUTE_MS } from "../../base/time";
import { ChoiceField, SelectField } from "../../ui/choices";
import { duration } from "../../ui/times";
import {
  checkboxField,
  dateTimeField,
  parseDateTimeInput,
  type TimeZoneContext,
} from "../../ui/forms/fields";
import { type Field, InvalidInput } from "../../ui/forms/form";
import type { MaintenanceView } from "./maintenance-view";

/** Field for the planned start. */
export function startField(hint?: string) {
  return dateTimeField({
    label: "Starts at (UTC)",
    isRequired: true,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Field for the planned end. */
export const endField = dateTimeField({ label: "Ends at (UTC)" });

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
export const durationField: Field<TypedDuration, string, TimeZoneContext> = {
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
    end: sent.text(name),
    start: sent.text("scheduled_for"),
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

export const autoStartField = checkboxField({
  label: "Start automatically",
  hint: "If unchecked, you start the maintenance with a button.",
  initial: true,
});

export const autoCompleteField = checkboxField({
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
export function whileScheduled<Typed, Body>(
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
