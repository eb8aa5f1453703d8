import {
  type CreateScheduleBody,
  DURATION_MINUTES_MAX,
} from "../../../features/maintenance/schedules/model";
import { previewOccurrences } from "../../../features/maintenance/schedules/preview";
import type { ScheduleRecord } from "../../../features/maintenance/schedules/records";
import { MINUTE_MS, toIso } from "../../../base/time";
import { Button } from "../../../ui/buttons";
import { zoneSpan } from "../../../ui/times";
import {
  checkboxField,
  integerField,
  messageField,
  nameField,
  textField,
} from "../../../ui/forms/fields";
import type { PageComponents } from "../../../ui/forms/object-fields";
import { defineForm, type Field, nullable, optional, type ValuesOf } from "../../../ui/forms/form";
import { type PageContext, pageField } from "../../../ui/forms/page-field";
import { affectedField } from "../forms";
import { reminderField } from "../schedule-fields";

/** Screen data of the form: the page, its components and the next occurrences of what is typed. */
export interface ScheduleContext extends PageContext, PageComponents {
  next: readonly NextOccurrence[];
}

/** Start of an occurrence, and both ends as text in its time zone. */
interface NextOccurrence {
  at: string;
  text: string;
}

const zoneField = optional(
  textField({
    label: "Time zone",
    hint: "In which the expression and the days are read. Empty means that of the page.",
    maxlength: 64,
    suggestions: ["UTC", ...Intl.supportedValuesOf("timeZone")],
  }),
);

/** Field for the time zone, followed by the next occurrences of what is typed. */
const zoneAndNextField: Field<string, string, ScheduleContext> = {
  ...zoneField,
  Input: (props) => (
    <>
      {zoneField.Input(props)}
      <NextOccurrences next={props.context.next} />
    </>
  ),
};

const dayField = (label: string, hint: string) =>
  nullable(textField({ label, hint, type: "date", isShort: true }));

/** Fields of a schedule without its page. */
const FIELDS = {
  name: nameField({ hint: "Name of each maintenance, such as “Database maintenance”." }),
  components: affectedField,
  cron: textField({
    label: "Times",
    hint: "A cron expression: minute, hour, day of month, month, day of week. “0 2 * * *” is every day at 02:00, “30 1 * * SUN” each Sunday at 01:30, “0 2 * * SUN#1” the first Sunday of each month, “@weekly” each Sunday at midnight.",
    initial: "0 2 * * *",
    maxlength: 100,
    isRequired: true,
  }),
  duration_minutes: integerField({
    label: "Duration in minutes",
    initial: 60,
    isRequired: true,
  }),
  time_zone: zoneAndNextField,
  body: messageField({
    label: "Message",
    hint: "What is done and what users will notice. Markdown.",
  }),
  remind_minutes_before: reminderField,
  starts_on: dayField("First day", "Empty means at once."),
  ends_on: dayField("Last day", "Empty means no end."),
  every_days: nullable(
    integerField({
      label: "Only every n-th day",
      hint: "Counted from the first day, such as 14 for every second week. Empty means every day of the expression.",
    }),
  ),
  enabled: checkboxField({
    label: "Enabled",
    hint: "If unchecked, the occurrences to come are removed, and none are made.",
    initial: true,
  }),
};

const MORE = { advanced: ["starts_on", "ends_on", "every_days", "enabled"] } as const;

/** Form for a new schedule. The button for the page precedes the main button, so it needs `enter`. */
export const NEW_SCHEDULE_FORM = defineForm<CreateScheduleBody, ScheduleContext>()(
  { page: pageField(), ...FIELDS },
  MORE,
);

/** Form for a stored schedule, which stays on its page. */
export const SCHEDULE_FORM = defineForm<Omit<CreateScheduleBody, "page">, ScheduleContext>()(
  FIELDS,
  MORE,
);

/** Returns the form values of a stored schedule. */
export function storedSchedule({ row, components }: ScheduleRecord) {
  return {
    name: row.name,
    components: components.map(({ id }) => id),
    cron: row.cron,
    duration_minutes: row.durationMinutes,
    time_zone: row.timeZone,
    body: row.body,
    remind_minutes_before: row.remindMinutesBefore,
    starts_on: row.startsOn,
    ends_on: row.endsOn,
    every_days: row.everyDays,
    enabled: row.enabled,
  };
}

/** Value of the button that shows a form again with the next occurrences. A script sends it while people type. */
export const SHOW_NEXT = "occurrences";

/** Returns the next occurrences of typed values; none if a value is wrong. `now` is in unix ms. */
export function nextOccurrences(
  values: ValuesOf<typeof FIELDS>,
  context: ScheduleContext,
  now: number,
): NextOccurrence[] {
  const { body } = SCHEDULE_FORM.parse(values, context);
  const timeZone = body.time_zone ?? context.page.timeZone;
  const { duration_minutes: typed } = body;
  const minutes = typed > 0 && typed <= DURATION_MINUTES_MAX ? typed : 0;
  return previewOccurrences(body, timeZone, now).map((at) => ({
    at: toIso(at),
    text: zoneSpan(at, at + minutes * MINUTE_MS, timeZone),
  }));
}

function NextOccurrences({ next }: { next: readonly NextOccurrence[] }) {
  return (
    <div class="field">
      <div data-occurrences={SHOW_NEXT} aria-live="polite">
        <p class="label">Next occurrences</p>
        {next.length === 0 ? (
          <p class="hint">None. Check the expression, the time zone and the days.</p>
        ) : (
          <ol class="hint">
            {next.map(({ at, text }) => (
              <li key={at}>
                <time dateTime={at}>{text}</time>
              </li>
            ))}
          </ol>
        )}
      </div>
      <Button name="intent" value={SHOW_NEXT}>
        Show next occurrences
      </Button>
    </div>
  );
}
