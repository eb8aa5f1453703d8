import { Checkbox, ChoiceField, duration, DateTimeField, SelectField } from "../../ui";
import type { Wording } from "../field-errors";
import { PLAN_LABELS } from "./plan";
import { reminderOptions } from "./reminder";
import { DURATIONS, type ScheduleValues, UNTIL } from "./schedule";

interface ScheduleFieldsProps {
  values: ScheduleValues;
  wrong: Wording;
  /** The page's. */
  timeZone: string;
}

/** The planned beginning. */
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

/** The planned end. */
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

/** How long it lasts, or when it ends. */
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

/** What the clock does by itself. */
export function ClockFields({ values, wrong }: Omit<ScheduleFieldsProps, "timeZone">) {
  return (
    <>
      <Checkbox
        label={PLAN_LABELS.auto_start}
        name="auto_start"
        hint="Otherwise somebody starts it here."
        isChecked={values.isAutoStart}
        error={wrong.about("auto_start")}
      />
      <Checkbox
        label={PLAN_LABELS.auto_complete}
        name="auto_complete"
        hint="Otherwise it goes on until somebody finishes it here."
        isChecked={values.isAutoComplete}
        error={wrong.about("auto_complete")}
      />
      <SelectField
        label={PLAN_LABELS.remind_minutes_before}
        name="remind_minutes_before"
        hint="Once, before it starts. A reminder whose moment has passed is left out."
        options={reminderOptions(values.remind)}
        value={values.remind}
        error={wrong.about("remind_minutes_before")}
      />
    </>
  );
}
