/* Screens of maintenance: routes of the list, the calendar and the form to plan one, then list and calendar. */
import type { Role } from "../../../base/actor";
import { runInSlices, WHOLE_TURN } from "../../../base/in-slices";
import {
  listedTone,
  MAINTENANCE_STATUSES,
  type MaintenanceStatus,
  phaseTone,
} from "../../../base/status";
import { plural } from "../../../base/text";
import { DAY_MS, toIso } from "../../../base/time";
import { daysIn, zoneLabel } from "../../../base/zones";
import { validate } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import { sessionOf, zoneOf } from "../../../http/request-context";
import { monthNameOf } from "../../../public/page-context";
import { MAINTENANCE_WORDS } from "../../../public/state";
import { Chip, Shape } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { readPageComponents } from "../../../ui/forms/object-fields";
import { readPageContext } from "../../../ui/forms/page-field";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { labelAmong, type Page, PageFilter, readPages } from "../../../ui/frame/page-choice";
import {
  MAINTENANCE_PATH,
  MAINTENANCE_SCHEDULES_PATH,
  maintenancePath,
  PLAN_CALENDAR_PATH,
  PLAN_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { type DenseDataColumn, ListToolbar } from "../../../ui/list";
import { MonthTable } from "../../../ui/month-table";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import {
  type ListQuery,
  ListScreen,
  pageSelect,
  readListQuery,
  readOrder,
  readSearch,
} from "../../../ui/screens/list";
import { clockAt, dayAt, lasting, useZone } from "../../../ui/times";
import { monthName } from "../../analytics/screens/calendar";
import type { PageRow } from "../../pages/store";
import { AudienceHint, audienceNote, isCounting } from "../../timeline/screens/mail";
import { EntryNote } from "../../timeline/screens/updates";
import { planMaintenance } from "../maintenance";
import {
  countMaintenance,
  listMaintenance,
  listMaintenanceInOrder,
  listPendingMaintenance,
  type MaintenanceOrder,
  ORDER_KEYS,
} from "../records";
import { isUnderWay } from "../rules";
import { listPlannedBetween, type MaintenanceRecord } from "../store";
import { PlanMaintenanceBody } from "../wire";
import { addMaintenanceRoutes, When } from "./detail";
import { PLAN_FORM } from "./forms";
import { previewMaintenance } from "./view";

const PLAN_TITLE = "Plan maintenance";

/** `/admin/maintenance`: every role may read, editors write. */
export function maintenanceAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, MAINTENANCE_PATH, "editor");

  area.screen(
    "",
    async ({ query, requestContext }) => {
      const list = await runInSlices(readMaintenanceList(ctx.db, query));
      const { role } = sessionOf(requestContext).user;
      return { title: "Maintenance", children: <MaintenanceList list={list} role={role} /> };
    },
    { role: "viewer" },
  );

  area.screen(
    "/calendar",
    ({ query, requestContext }) => {
      const timeZone = zoneOf(requestContext);
      const view = readPlanCalendar(ctx.db, query, { now: ctx.clock.now(), timeZone });
      return { title: "Maintenance calendar", children: <PlanCalendar view={view} /> };
    },
    { role: "viewer" },
  );

  area.form("/new", {
    form: PLAN_FORM,
    load(reader, at) {
      const context = readPageContext(reader, at, PLAN_TITLE);
      return { ...context, ...readPageComponents(reader, context.page.id) };
    },
    show(state) {
      const { components } = state.values;
      const audience = audienceNote(ctx, state.context.page, "maintenance", components);
      return {
        title: PLAN_TITLE,
        crumbs: [{ href: MAINTENANCE_PATH, label: "Maintenance" }],
        foot: audience && <AudienceHint audience={audience} />,
        button: "Plan maintenance",
      };
    },
    redisplay: (values, sent) => (isCounting(sent) ? values : undefined),
    submit: (tx, body, actor) =>
      planMaintenance(ctx, tx, validate(PlanMaintenanceBody, body), actor).id,
    done: (id) => ({ path: maintenancePath(id), text: "The maintenance was planned." }),
    // The status page shows the next 30 days only.
    preview: (tx, id) => previewMaintenance(ctx, tx, id),
  });

  addMaintenanceRoutes(area, deps);
  return area.routes;
}

/** Views of the list: `all` shows what has not ended first, the others filter. */
const LIST_VIEWS = ["all", "in_progress", "upcoming", "past"] as const;
type ListView = (typeof LIST_VIEWS)[number];

const VIEW_LABELS: Readonly<Record<ListView, string>> = {
  all: "All",
  in_progress: "In progress",
  upcoming: "Upcoming",
  past: "Past",
};

/** `/admin/maintenance`: maintenance in progress, upcoming and past. */
function MaintenanceList({ list, role }: { list: MaintenanceListing; role: Role }) {
  const { pages, page, view, counts } = list;
  const showOf = (name: ListView) => (name === "all" ? undefined : name);
  return (
    <ListScreen
      {...list}
      title="Maintenance"
      home={MAINTENANCE_PATH}
      search={{
        label: "Search by maintenance or component name",
        placeholder: "Maintenance or component",
      }}
      filters={{ q: list.search, page: page?.slug }}
      selects={[pageSelect(pages)]}
      views={{
        label: "Status",
        name: "show",
        liveId: "maintenance-views",
        current: showOf(view),
        items: LIST_VIEWS.map((name) => ({
          value: showOf(name),
          label: VIEW_LABELS[name],
          count: counts[name],
        })),
      }}
      order={list.isOrderable ? { value: list.order, usual: "In progress first" } : undefined}
      count={plural(counts[view], "maintenance")}
      links={
        <>
          <ButtonLink href={MAINTENANCE_SCHEDULES_PATH}>Schedules</ButtonLink>
          <ButtonLink href={withQuery(PLAN_CALENDAR_PATH, { page: page?.slug })}>
            Calendar
          </ButtonLink>
        </>
      }
      newLink={
        <ButtonLink href={withQuery(PLAN_PATH, { page: page?.slug })} kind="primary">
          <Icon name="plus" />
          Plan maintenance
        </ButtonLink>
      }
      role={role}
      firstUse={{
        title: "No maintenance yet",
        text: "Maintenance announces planned work on the page, in the feeds and in the calendar. Its components are under maintenance from start to end.",
      }}
      noMatch="No maintenance matches these filters"
      table={{
        caption: list.order === undefined ? "Maintenance, in progress first" : "Maintenance",
        liveId: "maintenance-rows",
        name: {
          label: "Maintenance",
          sort: { key: "name" },
          cell: (record) => nameOf(record, list),
        },
        columns: columnsOf(pages),
        entries: list.records,
      }}
    >
      {list.upcomingShown === undefined ? null : (
        <p class="muted detail-body">
          Only the next {list.upcomingShown} of {counts.upcoming.toLocaleString("en")} upcoming ones
          are listed.
        </p>
      )}
    </ListScreen>
  );
}

/** Returns the parts of the first cell. It has the name of the page if the list shows several. */
function nameOf(record: MaintenanceRecord, { pages, page }: MaintenanceListing) {
  const { id, name, status, pageId } = record.row;
  const own = pages.length > 1 && !page ? pages.find((one) => one.id === pageId) : undefined;
  return {
    shape: <Shape tone={listedTone({ status })} />,
    href: maintenancePath(id),
    name,
    state: <span class="visually-hidden">, {MAINTENANCE_WORDS[status]}</span>,
    note: <EntryNote pageName={own && labelAmong(pages, own)} record={record} />,
  };
}

/** Columns after the first one. */
function columnsOf(pages: readonly PageRow[]): DenseDataColumn<MaintenanceRecord>[] {
  return [
    {
      label: "Status",
      isSecondary: true,
      sort: { key: "status", kind: "phase" },
      cell({ row: { status } }) {
        const tone = phaseTone({ status });
        const word = MAINTENANCE_WORDS[status];
        return tone === "none" ? <Chip>{word}</Chip> : <Chip tone={tone}>{word}</Chip>;
      },
    },
    {
      label: "Planned",
      isBars: true,
      sort: { key: "planned", kind: "time" },
      cell: ({ row }) => (
        <When
          from={toIso(row.scheduledFor)}
          until={toIso(row.scheduledUntil)}
          timeZone={pages.find(({ id }) => id === row.pageId)?.timeZone ?? "UTC"}
        />
      ),
    },
    {
      label: "Duration",
      isNumeric: true,
      sort: { key: "duration", kind: "number" },
      cell: ({ row }) => lasting(toIso(row.scheduledFor), toIso(row.scheduledUntil)),
    },
  ];
}

/** Number of listed maintenances that have not ended; the list says if there are more. */
const PENDING_SHOWN = 100;
const PAGE_SIZE = 25;
/** Minimum number of past maintenances after many others. */
const PAST_MIN = 5;

/** Content of one screen of the list of maintenance. */
interface MaintenanceListing extends ListQuery {
  view: ListView;
  search: string;
  /** Maintenances in progress, then upcoming ones by planned start, then past ones, the last planned first. */
  records: readonly MaintenanceRecord[];
  /** Number of listed upcoming maintenances if the view has more; else undefined. */
  upcomingShown: number | undefined;
  /** Numbers of maintenances that match the filters, by view. */
  counts: Readonly<Record<ListView, number>>;
  /** Order by a column; undefined for those in progress first. */
  order: MaintenanceOrder | undefined;
  /** False if there are too many to order them. */
  isOrderable: boolean;
  /** Place of the last maintenance, by default the id of the last past one, if more follow. */
  nextBefore: string | undefined;
}

/** Number of maintenances that are read to order them, which takes about 20 ms. */
const ORDERED_MAX = 20_000;

const VIEW_STATUSES: Readonly<Record<ListView, readonly MaintenanceStatus[]>> = {
  all: MAINTENANCE_STATUSES,
  in_progress: ["in_progress", "verifying"],
  upcoming: ["scheduled"],
  past: ["completed", "cancelled"],
};

/** Reads the list for a query, after its numbers in a turn of their own. Invalid parameters are ignored. */
function* readMaintenanceList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): Generator<number, MaintenanceListing> {
  const { pages, page, before } = readListQuery(reader, query);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = readSearch(query);
  const filter = { pageId: page?.id, search: search || null };
  const { inProgress, upcoming, past } = countMaintenance(reader, filter);
  yield WHOLE_TURN;
  const counts = { all: inProgress + upcoming + past, in_progress: inProgress, upcoming, past };
  const isOrderable = counts.all <= ORDERED_MAX;
  const order = isOrderable ? readOrder(query, ORDER_KEYS) : undefined;
  const common = { pages, page, before, view, search, counts, order, isOrderable };
  if (order === undefined)
    return { ...common, ...readUsual(reader, { ...filter, before }, view, counts) };
  const statuses = VIEW_STATUSES[view];
  const part = { ...filter, statuses, order, before, limit: PAGE_SIZE };
  return { ...common, upcomingShown: undefined, ...listMaintenanceInOrder(reader, part) };
}

/** Reads what has not ended, then past maintenance. `before` continues that after an id. */
function readUsual(
  reader: Reader,
  query: { pageId: string | undefined; search: string | null; before: string | undefined },
  view: ListView,
  { upcoming }: MaintenanceListing["counts"],
): Pick<MaintenanceListing, "records" | "upcomingShown" | "nextBefore"> {
  const { before, ...filter } = query;
  const hasPending = view !== "past" && before === undefined;
  const pending = (
    hasPending ? listPendingMaintenance(reader, { ...filter, limit: PENDING_SHOWN }) : []
  ).filter(({ row }) => view === "all" || isUnderWay(row.status) === (view === "in_progress"));
  const limit = Math.max(PAST_MIN, PAGE_SIZE - pending.length);
  const ended =
    view === "all" || view === "past"
      ? listMaintenance(reader, { ...filter, isUpcoming: 0, isActive: 0, before, limit: limit + 1 })
      : [];
  const past = ended.slice(0, limit);
  const upcomingShown = pending.filter(({ row }) => !isUnderWay(row.status)).length;
  const hasUpcoming = hasPending && view !== "in_progress";
  return {
    records: [...pending, ...past],
    upcomingShown: hasUpcoming && upcomingShown < upcoming ? upcomingShown : undefined,
    nextBefore: ended.length > limit ? past.at(-1)?.row.id : undefined,
  };
}

/** Maximum number of maintenances that a month shows. */
const SHOWN_MAX = 1_000;
/** Maintenances named in a day; the rest are counted. */
const NAMED_MAX = 3;
const MONTH = /^(19[7-9]\d|[2-9]\d{3})-(0[1-9]|1[0-2])$/;

type Planned = ReturnType<typeof listPlannedBetween>[number]["row"];

/** Maintenance of a month in the time zone of the reader. Times in unix ms. */
interface PlanCalendarView {
  /** `YYYY-MM`. */
  month: string;
  /** Each with the midnight in UTC of its date, and its start. */
  days: readonly { at: number; from: number; planned: readonly Planned[] }[];
  /** By planned start. */
  planned: readonly Planned[];
  isTruncated: boolean;
  pages: readonly Page[];
  /** Page that the calendar is filtered by; undefined for all. */
  page: Page | undefined;
  now: number;
}

/** Reads the month of a query, by default that of the next maintenance. Invalid parameters are ignored. */
function readPlanCalendar(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  { now, timeZone }: { now: number; timeZone: string },
): PlanCalendarView {
  const { dayOf, startOf } = daysIn(timeZone);
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  const name = query["month"] ?? "";
  const month = MONTH.test(name) ? name : monthNameOf(dayOf(nextPlannedAt(reader, page?.id, now)));
  const [first, next] = [Date.parse(`${month}-01`), startOfNextMonth(month)];
  const [from, to] = [startOf(first), startOf(next)];
  const span = { pageId: page?.id ?? null, from, to, limit: SHOWN_MAX + 1 };
  const found = listPlannedBetween(reader, span).map(({ row }) => row);
  const planned = found.slice(0, SHOWN_MAX);
  const days = Array.from({ length: (next - first) / DAY_MS }, (_, index) => {
    const at = first + index * DAY_MS;
    const [begin, end] = [startOf(at), startOf(at + DAY_MS)];
    const isOn = (row: Planned) => row.scheduledFor < end && row.scheduledUntil > begin;
    return { at, from: begin, planned: planned.filter(isOn) };
  });
  return { month, days, planned, isTruncated: found.length > SHOWN_MAX, pages, page, now };
}

/** Returns the present if maintenance is in progress or none is planned, else the start of the next one. */
function nextPlannedAt(reader: Reader, pageId: string | undefined, now: number): number {
  const [next] = listPendingMaintenance(reader, { pageId, limit: 1 });
  return Math.max(now, next?.row.scheduledFor ?? now);
}

function startOfNextMonth(month: string): number {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return Date.UTC(year, number);
}

/** `/admin/maintenance/calendar`: planned maintenance by day of a month. */
function PlanCalendar({ view }: { view: PlanCalendarView }) {
  const { month, days, planned, isTruncated, pages, page, now } = view;
  const zone = useZone();
  const today = daysIn(zone).dayOf(now);
  const pathOf = (name: string) => withQuery(PLAN_CALENDAR_PATH, { page: page?.slug, month: name });
  const previous = monthNameOf(Date.parse(`${month}-01`) - 1);
  const next = monthNameOf(startOfNextMonth(month));
  return (
    <>
      <PageHead
        title="Maintenance calendar"
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }, { label: "Calendar" }]}
      >
        Planned times in {zoneLabel(zone)}.
      </PageHead>
      {pages.length > 1 ? (
        <ListToolbar isCard action={PLAN_CALENDAR_PATH} hidden={{ month }}>
          <PageFilter pages={pages} page={page} />
        </ListToolbar>
      ) : null}
      <div class="columns-main">
        <DetailCard
          title={monthName(month)}
          liveId="plan-calendar"
          count={planned.length === 0 ? undefined : String(planned.length)}
          end={
            <nav class="calendar-months" aria-label="Months">
              {MONTH.test(previous) ? (
                <a rel="prev" href={pathOf(previous)}>
                  ← {monthName(previous)}
                </a>
              ) : null}
              {MONTH.test(next) ? (
                <a rel="next" href={pathOf(next)}>
                  {monthName(next)} →
                </a>
              ) : null}
            </nav>
          }
          isFlush
        >
          <MonthTable caption={`Planned maintenance in ${monthName(month)}`} days={days}>
            {(day) => <DayCell key={day.at} day={day} isToday={today === day.at} />}
          </MonthTable>
        </DetailCard>
        <DetailCard
          title="Planned maintenance"
          liveId="plan-calendar-entries"
          count={planned.length === 0 ? undefined : String(planned.length)}
          isFlush
        >
          {planned.length === 0 ? (
            <p class="muted detail-body">No maintenance is planned in {monthName(month)}.</p>
          ) : (
            <ul>
              {planned.map((row) => (
                <PlannedRow key={row.id} row={row} pages={page ? [] : pages} />
              ))}
            </ul>
          )}
          {isTruncated ? (
            <p class="muted detail-body">Only the first {planned.length} are shown.</p>
          ) : null}
        </DetailCard>
      </div>
    </>
  );
}

function DayCell(props: { day: PlanCalendarView["days"][number]; isToday: boolean }) {
  const { day, isToday } = props;
  const { at, from, planned } = day;
  const zone = useZone();
  const rest = planned.length - NAMED_MAX;
  const named = planned.slice(0, rest > 1 ? NAMED_MAX : NAMED_MAX + 1);
  return (
    <td
      class={planned.length > 0 ? "t-maint" : undefined}
      aria-current={isToday ? "date" : undefined}
    >
      <div class="calendar-day">
        <span class="calendar-number">{new Date(at).getUTCDate()}</span>
        {planned.length === 0 ? null : (
          <span class="calendar-share">
            {planned.length}
            <span class="visually-hidden"> planned</span>
          </span>
        )}
      </div>
      {planned.length === 0 ? null : (
        <ul>
          {named.map((row) => (
            <li key={row.id} class={`t-${listedTone(row)}`}>
              <a href={maintenancePath(row.id)} title={row.name}>
                {row.scheduledFor < from ? "…" : clockAt(row.scheduledFor, zone)} {row.name}
              </a>
            </li>
          ))}
          {rest > 1 ? <li>and {rest} more</li> : null}
        </ul>
      )}
    </td>
  );
}

function PlannedRow({ row, pages }: { row: Planned; pages: readonly Page[] }) {
  const zone = useZone();
  const { scheduledFor: from, scheduledUntil: until } = row;
  const tone = phaseTone(row);
  const page = pages.length > 1 ? pages.find(({ id }) => id === row.pageId) : undefined;
  const when = `${dayAt(from, zone)}, ${clockAt(from, zone)} · ${lasting(toIso(from), toIso(until))}`;
  return (
    <DetailRow
      shape={<Shape tone={listedTone(row)} />}
      href={maintenancePath(row.id)}
      title={row.name}
      note={page ? `${when} · ${labelAmong(pages, page)}` : when}
      end={<Chip {...(tone === "none" ? {} : { tone })}>{MAINTENANCE_WORDS[row.status]}</Chip>}
    />
  );
}
