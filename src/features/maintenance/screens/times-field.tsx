/* Field for the times of a schedule: plain fields for the usual ones, cron as the last choice. */
import { CRON_MAX } from "../../../base/cron";
import { Select, SelectField } from "../../../ui/choices";
import { FieldGroup, fieldId } from "../../../ui/field";
import { TextField } from "../../../ui/form";
import { type Field, InvalidInput } from "../../../ui/forms/form";
import {
  cronOf,
  LAST_DAY,
  readTimes,
  type Repeat,
  REPEATS,
  type Times,
  WEEK_NAMES,
  WEEKDAY_NAMES,
  WEEKDAYS,
} from "../schedules/times";

const LABELS: Readonly<Record<Repeat, string>> = {
  daily: "Every day",
  weekdays: "Monday to Friday",
  weekly: "Every week, on days",
  month_day: "Every month, on a date",
  month_weekday: "Every month, on a weekday",
  cron: "By a cron expression",
};

/** Names of the inputs by the property that they set. */
const INPUTS = {
  at: "at",
  days: "on_days",
  monthDay: "month_day",
  week: "month_week",
  weekday: "month_weekday",
} as const;

/**
 * Field for the cron expression of a schedule. A style sheet shows the inputs of the selected way to repeat, so that
 * no script is needed. A form that has only the expression is one of cron.
 */
export const timesField: Field<Times, string> = {
  label: "Cron expression",
  initial: readTimes("0 2 * * *"),
  inputs: {
    repeats: "Repeats",
    [INPUTS.at]: "Time",
    [INPUTS.days]: "Days",
    [INPUTS.monthDay]: "Day of the month",
    [INPUTS.week]: "Weekday of the month",
  },
  read: (sent, name) => ({
    repeats: REPEATS.find((each) => each === sent.text("repeats")) ?? "cron",
    at: sent.text(INPUTS.at),
    days: sent.all(INPUTS.days),
    monthDay: sent.text(INPUTS.monthDay),
    week: sent.text(INPUTS.week),
    weekday: sent.text(INPUTS.weekday),
    cron: sent.text(name),
  }),
  toBody(times) {
    const cron = cronOf(times);
    return typeof cron === "string"
      ? cron.trim()
      : new InvalidInput(cron.detail, INPUTS[cron.field]);
  },
  fromStored: readTimes,
  showError({ detail }, times) {
    const cron = cronOf(times);
    // The service misses the expression that wrong fields did not make.
    if (typeof cron !== "string") return { input: INPUTS[cron.field], detail: cron.detail };
    return times.repeats === "cron" ? { detail } : { input: INPUTS.at, detail };
  },
  Input: ({ name, value, errors }) => (
    <div class="repeats">
      <SelectField
        label="Repeats"
        name="repeats"
        options={REPEATS.map((each) => ({ value: each, label: LABELS[each] }))}
        value={value.repeats}
      />
      <div class="is-weekly">
        <DaysField days={value.days} error={errors[INPUTS.days]} />
      </div>
      <div class="is-month-day">
        <SelectField
          label="Day of the month"
          name={INPUTS.monthDay}
          hint="Months without this day are skipped."
          options={MONTH_DAYS}
          value={value.monthDay}
          error={errors[INPUTS.monthDay]}
        />
      </div>
      <div class="is-month-weekday">
        <WeekField times={value} error={errors[INPUTS.week]} />
      </div>
      <div class="is-plain">
        <TextField
          label="Time"
          name={INPUTS.at}
          type="time"
          value={value.at}
          error={errors[INPUTS.at]}
          isShort
        />
      </div>
      <div class="is-cron">
        <TextField
          label="Cron expression"
          name={name}
          value={value.cron}
          hint="Minute, hour, day of month, month, day of week. “30 1 1,15 * *” is 01:30 on the 1st and 15th, “0 */6 * * *” every six hours, “0 2 * * SUN#1” the first Sunday of each month."
          maxlength={CRON_MAX}
          autocomplete="off"
          error={errors[name]}
        />
      </div>
    </div>
  ),
};

const MONTH_DAYS = [
  ...Array.from({ length: 31 }, (_, index) => String(index + 1)).map((day) => ({
    value: day,
    label: day,
  })),
  { value: LAST_DAY, label: "Last day" },
];

/** Checkboxes of the days of the week, in one row. */
function DaysField({ days, error }: { days: readonly string[]; error: string | undefined }) {
  return (
    <FieldGroup label="Days" name={INPUTS.days} error={error}>
      <div class="choice is-days">
        {WEEKDAYS.map((day) => {
          const id = fieldId(`${INPUTS.days}-${day}`);
          const name = WEEKDAY_NAMES[day] ?? day;
          return (
            <span class="choice-option" key={day}>
              <input
                type="checkbox"
                id={id}
                name={INPUTS.days}
                value={day}
                checked={days.includes(day)}
              />
              <label for={id}>
                {name.slice(0, 3)}
                <span class="visually-hidden">{name.slice(3)}</span>
              </label>
            </span>
          );
        })}
      </div>
    </FieldGroup>
  );
}

/** Selects of a week of the month and of a day in it. */
function WeekField({ times, error }: { times: Times; error: string | undefined }) {
  const weeks = Object.entries(WEEK_NAMES).map(([value, label]) => ({ value, label }));
  const days = WEEKDAYS.map((value) => ({ value, label: WEEKDAY_NAMES[value] ?? value }));
  return (
    <FieldGroup label="Weekday of the month" name={INPUTS.week} error={error}>
      <div class="nth-weekday">
        <div class="select">
          <Select
            name={INPUTS.week}
            aria-label="Week of the month"
            options={weeks}
            selected={times.week}
          />
        </div>
        <div class="select">
          <Select
            name={INPUTS.weekday}
            aria-label="Day of the week"
            options={days}
            selected={times.weekday}
          />
        </div>
      </div>
    </FieldGroup>
  );
}
