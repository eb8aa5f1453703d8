/* Screens of the schedules of maintenance: routes, the list, then the form, which begins with the field for their times. */
import { type Role, roleAllows } from "../../../base/actor";
import { CRON_MAX } from "../../../base/cron";
import { plural } from "../../../base/text";
import { MINUTE_MS, toIso } from "../../../base/time";
import { validate } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { EmptyState } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Select, SelectField } from "../../../ui/choices";
import { FieldGroup, fieldId } from "../../../ui/field";
import { TextField } from "../../../ui/form";
import {
  checkboxField,
  integerField,
  messageField,
  nameField,
  textField,
  timeZoneField,
} from "../../../ui/forms/fields";
import {
  defineForm,
  type Field,
  InvalidInput,
  nullable,
  optional,
  type ValuesOf,
} from "../../../ui/forms/form";
import { type PageComponents, readPageComponents } from "../../../ui/forms/object-fields";
import { type PageContext, pageField, readPageContext } from "../../../ui/forms/page-field";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { labelAmong, type Page, readPages } from "../../../ui/frame/page-choice";
import {
  MAINTENANCE_PATH,
  MAINTENANCE_SCHEDULES_PATH,
  maintenanceSchedulePath,
  NEW_SCHEDULE_PATH,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, OneLine, RowLink } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { FormScreen, ManagedByFile, RecreatedByFile } from "../../../ui/screens/form-screen";
import { OrderedTable } from "../../../ui/screens/list";
import { duration, RelativeTime, TimeSpan, type TimeSpanProps } from "../../../ui/times";
import {
  createSchedule,
  deleteSchedule,
  previewOccurrences,
  updateSchedule,
} from "../schedules/schedules";
import {
  getSchedule,
  listSchedules,
  listUpcomingOfSchedule,
  type ScheduleRecord,
} from "../schedules/store";
import {
  cronOf,
  describeTimes,
  LAST_DAY,
  readTimes,
  type Repeat,
  REPEATS,
  type Times,
  WEEK_NAMES,
  WEEKDAY_NAMES,
  WEEKDAYS,
} from "../schedules/times";
import { CreateScheduleBody, DURATION_MINUTES_MAX, UpdateScheduleBody } from "../schedules/wire";
import { affectedField, reminderField } from "./forms";

const CREATE_TITLE = "Create schedule";
const CRUMBS = [
  { href: MAINTENANCE_PATH, label: "Maintenance" },
  { href: MAINTENANCE_SCHEDULES_PATH, label: "Schedules" },
];

/** `/admin/maintenance/schedules`: every role may read, editors write. */
export function scheduleAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, MAINTENANCE_SCHEDULES_PATH, "editor");

  area.screen(
    "",
    ({ query, requestContext }) => {
      const list = readScheduleList(ctx.db, ctx.clock.now());
      const { role } = sessionOf(requestContext).user;
      const order = query["sort"];
      return {
        title: "Maintenance schedules",
        children: <ScheduleList {...{ list, role, order }} />,
      };
    },
    { role: "viewer" },
  );

  area.form("/new", {
    form: NEW_SCHEDULE_FORM,
    load(reader, at) {
      const context = readPageContext(reader, at, CREATE_TITLE);
      return { ...context, ...readPageComponents(reader, context.page.id), next: [] };
    },
    initial: (_, { page }) => ({ time_zone: page.timeZone }),
    show(state) {
      const next = nextOccurrences(state.values, state.context, ctx.clock.now());
      return {
        title: CREATE_TITLE,
        children: (
          <FormScreen
            title={CREATE_TITLE}
            crumbs={CRUMBS}
            form={NEW_SCHEDULE_FORM}
            state={{ ...state, context: { ...state.context, next } }}
            action={NEW_SCHEDULE_PATH}
            enter={{}}
          >
            <Button kind="primary">Create schedule</Button>
          </FormScreen>
        ),
      };
    },
    submit: (tx, body, actor) =>
      createSchedule(ctx, tx, validate(CreateScheduleBody, body), actor).row.id,
    done: () => ({ path: MAINTENANCE_SCHEDULES_PATH, text: "The schedule was created." }),
  });

  area.editForm("/:id", {
    form: SCHEDULE_FORM,
    load(reader, { params }) {
      const record = getSchedule(reader, params.id);
      const pages = readPages(reader);
      const page = pages.find(({ id }) => id === record.row.pageId);
      if (!page) throw new Error("a schedule belongs to a page");
      const context = { pages, page, ...readPageComponents(reader, page.id), next: [], record };
      return { resource: storedSchedule(record), version: record.row.version, context };
    },
    show(state) {
      const { row } = state.context.record;
      const next = nextOccurrences(state.values, state.context, ctx.clock.now());
      return {
        title: `Edit “${row.name}”`,
        children: (
          <FormScreen
            title="Edit schedule"
            crumbs={[...CRUMBS, { label: row.name }]}
            actions={
              <ButtonLink href={maintenanceSchedulePath(row.id, "delete")} kind="danger" dialog>
                Delete
              </ButtonLink>
            }
            intro="A change makes the occurrences to come anew, except those that were edited or cancelled."
            above={row.managedBy === null ? null : <ManagedByFile what="schedule" />}
            form={SCHEDULE_FORM}
            state={{ ...state, context: { ...state.context, next } }}
            action={maintenanceSchedulePath(row.id)}
            enter={{}}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }, { record }) {
      const after = updateSchedule(
        ctx,
        tx,
        params.id,
        validate(UpdateScheduleBody, changes),
        actor,
      );
      return after.row.version !== record.row.version;
    },
    done: () => ({ path: MAINTENANCE_SCHEDULES_PATH, text: "The schedule was changed." }),
  });

  area.deletion({
    noun: "schedule",
    find: getSchedule,
    nameOf: ({ row }) => row.name,
    consequences: ({ row }) => (
      <>
        <p>
          Its occurrences to come are removed, except those that were edited or cancelled. Past ones
          stay. This cannot be undone.
        </p>
        {row.managedBy === null ? null : <RecreatedByFile what="schedule" />}
      </>
    ),
    remove: (tx, { row }, actor) => deleteSchedule(ctx, tx, row.id, actor),
  });

  return area.routes;
}

/** Content of the list of schedules. */
interface ScheduleListing {
  /** By page and name. */
  schedules: readonly (ScheduleRecord & { nextAt: number | undefined })[];
  pages: readonly Page[];
  /** Unix ms. */
  now: number;
}

/** Reads all schedules, each with the start of its next occurrence in unix ms. */
function readScheduleList(reader: Reader, now: number): ScheduleListing {
  const pages = readPages(reader);
  const rank = new Map(pages.map(({ id }, index) => [id, index]));
  const schedules = listSchedules(reader)
    .toSorted(
      (a, b) =>
        (rank.get(a.row.pageId) ?? 0) - (rank.get(b.row.pageId) ?? 0) ||
        a.row.name.localeCompare(b.row.name, "en") ||
        (a.row.id < b.row.id ? -1 : 1),
    )
    .map((record) => {
      const [next] = listUpcomingOfSchedule(reader, { scheduleId: record.row.id, now, limit: 1 });
      return { ...record, nextAt: next?.scheduledFor ?? record.row.nextAt ?? undefined };
    });
  return { schedules, pages, now };
}

/** `/admin/maintenance/schedules`: schedules of maintenance. */
function ScheduleList(props: { list: ScheduleListing; role: Role; order: string | undefined }) {
  const { list, role, order } = props;
  const { schedules, pages } = list;
  const canChange = roleAllows(role, "editor");
  const create =
    canChange && pages.length > 0 ? (
      <ButtonLink href={NEW_SCHEDULE_PATH} kind="primary">
        <Icon name="plus" />
        Create schedule
      </ButtonLink>
    ) : undefined;
  const isEmpty = schedules.length === 0;
  return (
    <>
      <PageHead
        title="Maintenance schedules"
        isList
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }, { label: "Schedules" }]}
        actions={isEmpty ? undefined : create}
      >
        Each plans maintenance again and again, 30 days ahead.
      </PageHead>
      {isEmpty ? (
        <EmptyState title="No schedules yet" action={create}>
          A schedule plans maintenance that repeats, such as a restart each Sunday at 02:00. People
          get a reminder before each occurrence.
        </EmptyState>
      ) : (
        <OrderedTable
          home={MAINTENANCE_SCHEDULES_PATH}
          order={order}
          usual="By page and name"
          valuesBy={ORDERS}
          caption="Maintenance schedules"
          columns={columnsOf(list, canChange)}
          entries={schedules}
          isOver={({ row }) => !row.enabled}
        />
      )}
    </>
  );
}

type ListedSchedule = ScheduleListing["schedules"][number];

/** Values by which schedules can be ordered. Disabled and ended ones have no next occurrence. */
const ORDERS: Readonly<Record<string, (schedule: ListedSchedule) => string | number | null>> = {
  name: ({ row }) => row.name,
  duration: ({ row }) => row.durationMinutes,
  next: ({ row, nextAt }) => (row.enabled ? (nextAt ?? null) : null),
};

function columnsOf({ pages, now }: ScheduleListing, isLink: boolean): DataColumn<ListedSchedule>[] {
  return [
    {
      label: "Schedule",
      sort: { key: "name" },
      cell({ row }) {
        const page = pages.length > 1 ? pages.find(({ id }) => id === row.pageId) : undefined;
        return (
          <>
            {isLink ? (
              <RowLink href={maintenanceSchedulePath(row.id)}>{row.name}</RowLink>
            ) : (
              <strong>{row.name}</strong>
            )}
            {page ? <CellNote>{labelAmong(pages, page)}</CellNote> : null}
            {row.managedBy === null ? null : <CellNote>Managed by a file</CellNote>}
          </>
        );
      },
    },
    {
      label: "Times",
      cell: ({ row }) => (
        <>
          {describeTimes(readTimes(row.cron)) ?? <code>{row.cron}</code>}
          {row.everyDays === null ? null : (
            <CellNote>only every {plural(row.everyDays, "day")}</CellNote>
          )}
          <CellNote>{row.timeZone}</CellNote>
        </>
      ),
    },
    {
      label: "Duration",
      isNumeric: true,
      sort: { key: "duration", kind: "number" },
      cell: ({ row }) => duration(row.durationMinutes),
    },
    {
      label: "Next",
      sort: { key: "next", kind: "next" },
      cell: ({ row, nextAt }) => (
        <OneLine>
          {!row.enabled ? (
            "Disabled"
          ) : nextAt === undefined ? (
            "Ended"
          ) : (
            <RelativeTime at={toIso(nextAt)} now={now} />
          )}
        </OneLine>
      ),
    },
  ];
}

/* Field for the times of a schedule: plain fields for the usual ones, cron as the last choice. */

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
const timesField: Field<Times, string> = {
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

/** Screen data of the form: the page, its components and the next occurrences of what is typed. */
interface ScheduleContext extends PageContext, PageComponents {
  next: readonly TimeSpanProps[];
}

const zoneField = optional(
  timeZoneField({
    label: "Time zone",
    hint: "In which the times and the days are meant. Type a city or a zone; empty means that of the page.",
  }),
);

/** Field for the time zone, followed by the next occurrences of what is typed. */
const zoneAndNextField: Field<string, string, ScheduleContext> = {
  ...zoneField,
  isPressed: (sent) => sent.text("intent") === SHOW_NEXT,
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
  cron: timesField,
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
      hint: "Counted from the first day, such as 14 for every second week. Empty means every day that the times name.",
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
const NEW_SCHEDULE_FORM = defineForm<CreateScheduleBody, ScheduleContext>()(
  { page: pageField(), ...FIELDS },
  MORE,
);

/** Form for a stored schedule, which stays on its page. */
const SCHEDULE_FORM = defineForm<Omit<CreateScheduleBody, "page">, ScheduleContext>()(FIELDS, MORE);

/** Returns the form values of a stored schedule. */
function storedSchedule({ row, components }: ScheduleRecord) {
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
const SHOW_NEXT = "occurrences";

/** Returns the next occurrences of typed values; none if a value is wrong. `now` is in unix ms. */
function nextOccurrences(
  values: ValuesOf<typeof FIELDS>,
  context: ScheduleContext,
  now: number,
): TimeSpanProps[] {
  const { body } = SCHEDULE_FORM.parse(values, context);
  const timeZone = body.time_zone ?? context.page.timeZone;
  const { duration_minutes: typed } = body;
  const minutes = typed > 0 && typed <= DURATION_MINUTES_MAX ? typed : 0;
  return previewOccurrences(body, timeZone, now).map((at) => ({
    from: toIso(at),
    until: toIso(at + minutes * MINUTE_MS),
    timeZone,
  }));
}

function NextOccurrences({ next }: { next: readonly TimeSpanProps[] }) {
  return (
    <div class="field">
      <div data-occurrences={SHOW_NEXT} aria-live="polite">
        <p class="label">Next occurrences</p>
        {next.length === 0 ? (
          <p class="hint">None. Check the times, the time zone and the days.</p>
        ) : (
          <ol class="hint">
            {next.map((span) => (
              <li key={span.from}>
                <TimeSpan {...span} />
              </li>
            ))}
          </ol>
        )}
      </div>
      <noscript>
        <Button name="intent" value={SHOW_NEXT}>
          Show next occurrences
        </Button>
      </noscript>
    </div>
  );
}
