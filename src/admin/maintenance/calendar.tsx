import type { Reader } from "../../db/statements";
import { listPlannedBetween } from "../../features/maintenance/list-store";
import { DAY_MS, startOfDay, toIso } from "../../base/time";
import { monthNameOf } from "../../public/page-context";
import { MAINTENANCE_TONES } from "../../public/state";
import { lasting, MAINTENANCE_WORDS } from "../../public/words";
import { Chip, Shape } from "../../ui/blocks";
import { DetailCard, DetailRow } from "../../ui/detail";
import { ListToolbar } from "../../ui/list";
import { PageHead } from "../../ui/navigation";
import { shortDay } from "../../ui/times";
import { monthName } from "../analytics/calendar-entries";
import { MonthTable } from "../month-table";
import { labelAmong, type Page, PageFilter, readPages } from "../../ui/frame/page-choice";
import { MAINTENANCE_PATH, maintenancePath } from "../../ui/frame/paths";
import { listPath } from "../../features/timeline/screens/list";
import { PLAN_CALENDAR_PATH } from "./maintenance-paths";

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
  const pathOf = (name: string) => listPath(PLAN_CALENDAR_PATH, { page: page?.slug, month: name });
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
