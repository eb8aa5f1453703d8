import { MonthTable } from "../../../ui/month-table";
import type { Role } from "../../../base/actor";
import { plural } from "../../../base/text";
import { DAY_MS, startOfDay, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { monthNameOf } from "../../../public/page-context";
import { MAINTENANCE_TONES, MAINTENANCE_WORDS } from "../../../public/state";
import { lasting, shortDay } from "../../../ui/times";
import { Chip, Shape } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { labelAmong, type Page, PageFilter, readPages } from "../../../ui/frame/page-choice";
import {
  MAINTENANCE_PATH,
  MAINTENANCE_SCHEDULES_PATH,
  maintenancePath,
  PLAN_CALENDAR_PATH,
  PLAN_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import {
  type ListQuery,
  readListQuery,
  readSearch,
  ListScreen,
  pageSelect,
} from "../../../ui/screens/list";
import { EntryNote } from "../../timeline/screens/updates";
import { Icon } from "../../../ui/icons";
import { type DenseDataColumn, ListToolbar } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { monthName } from "../../analytics/screens/calendar";
import type { PageRow } from "../../pages/store";
import { countMaintenance, listMaintenance, listPendingMaintenance } from "../records";
import { isUnderWay } from "../rules";
import { listPlannedBetween, type MaintenanceRecord } from "../store";
import { When } from "./detail";

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
export function MaintenanceList({ list, role }: { list: MaintenanceListing; role: Role }) {
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
        caption: "Maintenance, in progress first",
        liveId: "maintenance-rows",
        name: { label: "Maintenance", cell: (record) => nameOf(record, list) },
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
    shape: <Shape tone={MAINTENANCE_TONES[status]} />,
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
      cell({ row: { status } }) {
        const tone = MAINTENANCE_TONES[status];
        const word = MAINTENANCE_WORDS[status];
        return tone === "none" ? <Chip>{word}</Chip> : <Chip tone={tone}>{word}</Chip>;
      },
    },
    {
      label: "Planned",
      isBars: true,
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
  /** Id of the last past maintenance if more follow. */
  nextBefore: string | undefined;
}

/** Reads the list for a query. `before` continues past maintenance after that id. */
export function readMaintenanceList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): MaintenanceListing {
  const { pages, page, before } = readListQuery(reader, query);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = readSearch(query);
  const filter = { pageId: page?.id, search: search || null };
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
  const { inProgress, upcoming, past: pastCount } = countMaintenance(reader, filter);
  const upcomingShown = pending.filter(({ row }) => !isUnderWay(row.status)).length;
  const hasUpcoming = hasPending && view !== "in_progress";
  return {
    pages,
    page,
    before,
    view,
    search,
    records: [...pending, ...past],
    upcomingShown: hasUpcoming && upcomingShown < upcoming ? upcomingShown : undefined,
    counts: {
      all: inProgress + upcoming + pastCount,
      in_progress: inProgress,
      upcoming,
      past: pastCount,
    },
    nextBefore: ended.length > limit ? past.at(-1)?.row.id : undefined,
  };
}

/** Maximum number of maintenances that a month shows. */
const SHOWN_MAX = 1_000;
/** Maintenances named in a day; the rest are counted. */
const NAMED_MAX = 3;
const MONTH = /^(19[7-9]\d|[2-9]\d{3})-(0[1-9]|1[0-2])$/;

type Planned = ReturnType<typeof listPlannedBetween>[number]["row"];

/** Maintenance of a month in UTC. Times in unix ms. */
interface PlanCalendarView {
  /** `YYYY-MM`. */
  month: string;
  days: readonly { at: number; planned: readonly Planned[] }[];
  /** By planned start. */
  planned: readonly Planned[];
  isTruncated: boolean;
  pages: readonly Page[];
  /** Page that the calendar is filtered by; undefined for all. */
  page: Page | undefined;
  now: number;
}

/** Reads the month of a query, by default the present one. Invalid parameters are ignored. */
export function readPlanCalendar(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): PlanCalendarView {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  const name = query["month"] ?? "";
  const month = MONTH.test(name) ? name : monthNameOf(now);
  const from = Date.parse(`${month}-01`);
  const to = startOfNextMonth(month);
  const span = { pageId: page?.id ?? null, from, to, limit: SHOWN_MAX + 1 };
  const found = listPlannedBetween(reader, span).map(({ row }) => row);
  const planned = found.slice(0, SHOWN_MAX);
  const days = Array.from({ length: (to - from) / DAY_MS }, (_, index) => {
    const at = from + index * DAY_MS;
    const isOn = (row: Planned) => row.scheduledFor < at + DAY_MS && row.scheduledUntil > at;
    return { at, planned: planned.filter(isOn) };
  });
  return { month, days, planned, isTruncated: found.length > SHOWN_MAX, pages, page, now };
}

function startOfNextMonth(month: string): number {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return Date.UTC(year, number);
}

/** `/admin/maintenance/calendar`: planned maintenance by day of a month. */
export function PlanCalendar({ view }: { view: PlanCalendarView }) {
  const { month, days, planned, isTruncated, pages, page, now } = view;
  const pathOf = (name: string) => withQuery(PLAN_CALENDAR_PATH, { page: page?.slug, month: name });
  const previous = monthNameOf(Date.parse(`${month}-01`) - 1);
  const next = monthNameOf(startOfNextMonth(month));
  return (
    <>
      <PageHead
        title="Maintenance calendar"
        crumbs={[{ href: MAINTENANCE_PATH, label: "Maintenance" }, { label: "Calendar" }]}
      >
        Planned times in UTC.
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
            {(day) => <DayCell key={day.at} day={day} isToday={startOfDay(now) === day.at} />}
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
  const { at, planned } = day;
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
            <li key={row.id} class={`t-${MAINTENANCE_TONES[row.status]}`}>
              <a href={maintenancePath(row.id)} title={row.name}>
                {row.scheduledFor < at ? "…" : toIso(row.scheduledFor).slice(11, 16)} {row.name}
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
  const from = toIso(row.scheduledFor);
  const tone = MAINTENANCE_TONES[row.status];
  const page = pages.length > 1 ? pages.find(({ id }) => id === row.pageId) : undefined;
  const when = `${shortDay(from)}, ${from.slice(11, 16)} · ${lasting(from, toIso(row.scheduledUntil))}`;
  return (
    <DetailRow
      shape={<Shape tone={tone} />}
      href={maintenancePath(row.id)}
      title={row.name}
      note={page ? `${when} · ${labelAmong(pages, page)}` : when}
      end={<Chip {...(tone === "none" ? {} : { tone })}>{MAINTENANCE_WORDS[row.status]}</Chip>}
    />
  );
}
