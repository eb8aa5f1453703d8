import { validate } from "../../../base/validation";
import { type Role, roleAllows } from "../../../base/actor";
import { plural } from "../../../base/text";
import { MINUTE_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { EmptyState } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import {
  checkboxField,
  integerField,
  messageField,
  nameField,
  textField,
  timeZoneField,
} from "../../../ui/forms/fields";
import { defineForm, type Field, nullable, optional, type ValuesOf } from "../../../ui/forms/form";
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
import { duration, RelativeTime, Time, zoneSpan } from "../../../ui/times";
import {
  getSchedule,
  listSchedules,
  listUpcomingOfSchedule,
  type ScheduleRecord,
} from "../schedules/store";
import {
  createSchedule,
  deleteSchedule,
  previewOccurrences,
  updateSchedule,
} from "../schedules/schedules";
import { describeTimes, readTimes } from "../schedules/times";
import { CreateScheduleBody, DURATION_MINUTES_MAX, UpdateScheduleBody } from "../schedules/wire";
import { affectedField, reminderField } from "./forms";
import { timesField } from "./times-field";

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

/** Screen data of the form: the page, its components and the next occurrences of what is typed. */
interface ScheduleContext extends PageContext, PageComponents {
  next: readonly NextOccurrence[];
}

/** Start of an occurrence, and both ends as text in its time zone. */
interface NextOccurrence {
  at: string;
  text: string;
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
          <p class="hint">None. Check the times, the time zone and the days.</p>
        ) : (
          <ol class="hint">
            {next.map(({ at, text }) => (
              <li key={at}>
                <Time at={at}>{text}</Time>
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
