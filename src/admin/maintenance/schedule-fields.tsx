import { Checkbox, ChoiceField, duration, DateTimeField, SelectField } from "../../ui";
import type { Wording } from "../field-errors";
import { PLAN_LABELS } from "./plan";
import { reminderOptions } from "./reminder";
import { DURATIONS, type ScheduleValues, UNTIL } from "./schedule";

interface ScheduleFieldsProps {
  values: ScheduleValues;
  wrong: Wording;
  /** Time zone of the page. */
  timeZone: string;
}

/** Field for the planned start. */
export function Beginning({
  values,
  wrong,
  timeZone,
  hint,
}: ScheduleFieldsProps & { hint?: string }) {
  return (
    <DateTimeField
      label={PLAN_LABELS.scheduled_for}
      name="scheduled_for"
      value={values.scheduledFor}
      hint={hint}
      timeZone={timeZone}
      error={wrong.about("scheduled_for")}
      required
    />
  );
}

/** Field for the planned end. */
export function End({ values, wrong, timeZone }: ScheduleFieldsProps) {
  return (
    <DateTimeField
      label={PLAN_LABELS.scheduled_until}
      name="scheduled_until"
      value={values.scheduledUntil}
      timeZone={timeZone}
      error={wrong.about("scheduled_until")}
    />
  );
}

/** Selects the duration, or a planned end. */
export function Length(props: ScheduleFieldsProps) {
  const { values, wrong } = props;
  return (
    <ChoiceField
      legend={PLAN_LABELS.lasts}
      name="lasts"
      options={[
        ...DURATIONS.map((value) => ({ value, label: duration(Number(value)) })),
        { value: UNTIL, label: "Until …" },
      ]}
      value={values.lasts}
      error={wrong.about("lasts")}
    >
      <End {...props} />
    </ChoiceField>
  );
}

/** Fields for the automatic start, the automatic end and the reminder. */
export function ClockFields({ values, wrong }: Omit<ScheduleFieldsProps, "timeZone">) {
  return (
    <>
      <Checkbox
        label={PLAN_LABELS.auto_start}
        name="auto_start"
        hint="Otherwise you start the maintenance here."
        isChecked={values.isAutoStart}
        error={wrong.about("auto_start")}
      />
      <Checkbox
        label={PLAN_LABELS.auto_complete}
        name="auto_complete"
        hint="Otherwise the maintenance continues until you finish it here."
        isChecked={values.isAutoComplete}
        error={wrong.about("auto_complete")}
      />
      <SelectField
        label={PLAN_LABELS.remind_minutes_before}
        name="remind_minutes_before"
        hint="Sent once, before the start. A reminder whose time has passed is not sent."
        options={reminderOptions(values.remind)}
        value={values.remind}
        error={wrong.about("remind_minutes_before")}
      />
    </>
  );
}
