import { percent } from "../../../base/numbers";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  listedTone,
  STATUS_TONES,
  type Tone,
} from "../../../base/status";
import { plural } from "../../../base/text";
import { DAY_MS, toIso } from "../../../base/time";
import { daysIn } from "../../../base/zones";
import type { Reader } from "../../../db/statements";
import { type Month, MONTH_PATTERN, monthOf } from "../../../public/page-context";
import { IMPACT_WORDS, INCIDENT_WORDS, MAINTENANCE_WORDS } from "../../../public/state";
import { Chip, EmptyState, Shape, STATUS_WORDS } from "../../../ui/blocks";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { choosePage } from "../../../ui/frame/page-choice";
import { incidentPath, maintenancePath } from "../../../ui/frame/paths";
import { MonthTable } from "../../../ui/month-table";
import { dayAt, lasting, longDay, useZone } from "../../../ui/times";
import { type Folded, knownFrom, uptimeOfDays } from "../../components/rules";
import { type ComponentRow, listComponentsOfPage } from "../../components/store";
import { findFirstIncidentStart } from "../../incidents/records";
import type { PageRow } from "../../pages/store";
import { type HistoryEntry, readHistory } from "../../status/entries";
import { foldInTurns } from "../analytics";
import { METHODS } from "../wire";
import { AnalyticsFrame, CALENDAR_PATH, type Selection, selectionPath } from "./frame";

/** Incidents and maintenance named in a day; the rest are counted. */
const NAMED_MAX = 2;

/** `/admin/analytics/calendar`: days of a month with uptime, incidents and maintenance. */
export function Calendar({ view }: { view: CalendarView }) {
  const { selection, page, month } = view;
  return (
    <AnalyticsFrame
      path={CALENDAR_PATH}
      selection={selection}
      hasPage
      isOnePage
      hidden={{ month: month.name }}
      methods={page ? [{ of: "components", method: METHODS.uptimeOfComponents }] : []}
    >
      {page ? (
        <>
          <MonthCard view={view} />
          <Entries view={view} />
        </>
      ) : (
        <EmptyState title="No status page yet">
          The days of a page's components appear here.
        </EmptyState>
      )}
    </AnalyticsFrame>
  );
}

function MonthCard({ view }: { view: CalendarView }) {
  const { month, days, uptime, selection, hasEarlier, now } = view;
  const today = daysIn(useZone()).dayOf(now);
  const pathOf = (name: string) => selectionPath(CALENDAR_PATH, selection, { month: name });
  return (
    <DetailCard
      title={monthName(month.name)}
      liveId="calendar"
      count={uptime === null ? "no data" : `${percent(uptime, 3)} uptime`}
      end={
        <MonthLinks
          previous={hasEarlier ? month.previous : undefined}
          next={month.next}
          pathOf={pathOf}
        />
      }
      isFlush
    >
      <MonthTable caption={`Days of ${monthName(month.name)}`} days={days}>
        {(day) => <DayCell key={day.at} day={day} isToday={today === day.at} />}
      </MonthTable>
    </DetailCard>
  );
}

function DayCell({ day, isToday }: { day: CalendarDay; isToday: boolean }) {
  const { at, uptime, worst, entries, isAhead } = day;
  const tone = worst === null ? "none" : STATUS_TONES[worst];
  const rest = entries.length - NAMED_MAX;
  return (
    <td class={isAhead ? "is-outside" : `t-${tone}`} aria-current={isToday ? "date" : undefined}>
      <div class="calendar-day">
        <span class="calendar-number">{new Date(at).getUTCDate()}</span>
        {isAhead ? null : (
          <span class="calendar-share">
            <Shape tone={tone} />
            <span class="visually-hidden">
              {worst === null ? "No data" : `${STATUS_WORDS[worst]}, uptime`}
            </span>
            {uptime === null ? null : (
              <span>
                {percent(uptime, 2).slice(0, -2)}
                <span class="calendar-unit"> %</span>
              </span>
            )}
          </span>
        )}
      </div>
      {entries.length === 0 ? null : (
        <ul>
          {entries.slice(0, rest > 1 ? NAMED_MAX : NAMED_MAX + 1).map((entry) => (
            <li key={nameOf(entry)} class={`t-${toneOf(entry)}`}>
              <a href={pathOf(entry)} title={nameOf(entry)}>
                {nameOf(entry)}
              </a>
            </li>
          ))}
          {rest > 1 ? <li>and {plural(rest, "more")}</li> : null}
        </ul>
      )}
    </td>
  );
}

/** Incidents and maintenance of a month at most. */
const ENTRIES_MAX = 100;

/** Day of a month in the time zone of the reader. */
interface CalendarDay {
  /** Midnight in UTC of its date, in unix ms. */
  at: number;
  /** True for days that have not begun. */
  isAhead: boolean;
  /** Uptime of all components together; null without data. */
  uptime: number | null;
  /** Worst status of a component; null without data. */
  worst: ComponentStatus | null;
  /** Incidents and maintenance that started on this day, oldest first. */
  entries: readonly HistoryEntry[];
}

interface CalendarView {
  selection: Selection;
  /** Page of the calendar; undefined without any page. */
  page: PageRow | undefined;
  month: Month;
  /** True if anything is known before the month. */
  hasEarlier: boolean;
  /** All days of the month. */
  days: readonly CalendarDay[];
  /** Uptime of the month; null without data. */
  uptime: number | null;
  /** Incidents and maintenance that started in the month, newest first. */
  entries: readonly HistoryEntry[];
  /** True if entries were left out because of `ENTRIES_MAX`. */
  isTruncated: boolean;
  /** Time at which it was read, in unix ms. */
  now: number;
}

/** Reads the days of a month (`YYYY-MM`, by default the current one) of the selected or the default page. */
export async function readCalendar(
  reader: Reader,
  selection: Selection,
  name: string | undefined,
  { now, timeZone }: { now: number; timeZone: string },
): Promise<CalendarView> {
  const { dayOf, startOf } = daysIn(timeZone);
  const page = selection.page ?? choosePage(selection.pages, undefined);
  const zone = { dayOf, startOf };
  const month =
    monthOf(isName(name) ? name : undefined, now, zone) ?? monthOf(undefined, now, zone);
  if (!month) throw new Error("the present month is in the future");
  const part = page
    ? readHistory(reader, { pageId: page.id, from: month.from, to: month.to }, ENTRIES_MAX)
    : { entries: [], next: undefined };
  const components = page ? listComponentsOfPage(reader, { pageId: page.id }) : [];
  const [first, next] = [dayOf(month.from), dayOf(month.to)];
  const dates = Array.from(
    { length: (next - first) / DAY_MS },
    (_, index) => first + index * DAY_MS,
  );
  const spans = dates
    .map((day) => ({ from: startOf(day), to: Math.min(now, startOf(day + DAY_MS)) }))
    .filter(({ from }) => from < now);
  const folded = await foldInTurns(reader, components, {
    from: month.from,
    to: spans.at(-1)?.to ?? month.from,
    spans,
  });
  const byDay = Map.groupBy(part.entries, ({ from }) => dayOf(from));
  const days = dates.map((at, index) => {
    const own = folded.flatMap((each) => each[index] ?? []);
    return {
      at,
      isAhead: index >= spans.length,
      uptime: uptimeOfDays(own),
      worst: worstOf(own),
      entries: (byDay.get(at) ?? []).toReversed(),
    };
  });
  return {
    selection: { ...selection, page },
    page,
    month,
    hasEarlier: page !== undefined && firstTime(reader, page, components) < month.from,
    days,
    uptime: uptimeOfDays(folded.flat()),
    entries: part.entries,
    isTruncated: part.next !== undefined,
    now,
  };
}

/** Returns the time from which days or incidents of a page are known, in unix ms. */
function firstTime(reader: Reader, page: PageRow, components: readonly ComponentRow[]): number {
  const incident = findFirstIncidentStart(reader, { pageId: page.id });
  return Math.min(page.createdAt, incident ?? page.createdAt, ...components.map(knownFrom));
}

function isName(name: string | undefined): name is string {
  return name !== undefined && new RegExp(MONTH_PATTERN).test(name);
}

function worstOf(days: readonly Folded[]): ComponentStatus | null {
  const worst = COMPONENT_STATUSES.findLast((status) => days.some(({ time }) => time[status] > 0));
  return worst ?? null;
}

/** Incidents and maintenance that started in the month, newest first. */
function Entries({ view }: { view: CalendarView }) {
  const { entries, isTruncated, month, now } = view;
  const zone = useZone();
  if (entries.length === 0) {
    return <p class="muted">No incident or maintenance started in {monthName(month.name)}.</p>;
  }
  return (
    <DetailCard
      title="Incidents and maintenance"
      liveId="calendar-entries"
      count={`${entries.length}${isTruncated ? " newest" : ""}`}
      isFlush
    >
      <ul>
        {entries.map((entry) => (
          <DetailRow
            key={pathOf(entry)}
            shape={<Shape tone={toneOf(entry)} />}
            href={pathOf(entry)}
            title={nameOf(entry)}
            note={noteOf(entry, now, zone)}
            end={
              <Chip tone={toneOf(entry)}>
                {entry.subject.kind === "incident"
                  ? IMPACT_WORDS[entry.subject.incident.impact]
                  : "Maintenance"}
              </Chip>
            }
          />
        ))}
      </ul>
    </DetailCard>
  );
}

/** Returns day, state and duration of an entry: "13 Nov 2026 · Resolved · 21 min". */
function noteOf({ from, to, subject }: HistoryEntry, now: number, zone: string): string {
  const state =
    subject.kind === "incident"
      ? INCIDENT_WORDS[subject.incident.status]
      : MAINTENANCE_WORDS[subject.maintenance.status];
  const length = lasting(toIso(from), toIso(to ?? now));
  return `${dayAt(from, zone)} · ${state} · ${length}${to === null ? " so far" : ""}`;
}

/** Returns the name of an incident or maintenance. */
function nameOf({ subject }: HistoryEntry): string {
  return subject.kind === "incident" ? subject.incident.name : subject.maintenance.name;
}

/** Returns the path of the screen of an incident or maintenance. */
function pathOf({ subject }: HistoryEntry): string {
  return subject.kind === "incident"
    ? incidentPath(subject.incident.id)
    : maintenancePath(subject.maintenance.id);
}

/** Returns the tone of an entry's mark. */
function toneOf({ subject }: HistoryEntry): Tone {
  return listedTone(subject.kind === "incident" ? subject.incident : subject.maintenance);
}

/** Links to the months (`YYYY-MM`) before and after the one shown. */
export function MonthLinks(props: {
  previous: string | null | undefined;
  next: string | null | undefined;
  pathOf: (month: string) => string;
}) {
  const { previous, next, pathOf } = props;
  return (
    <nav class="calendar-months" aria-label="Months">
      {previous ? (
        <a rel="prev" href={pathOf(previous)}>
          ← {monthName(previous)}
        </a>
      ) : null}
      {next ? (
        <a rel="next" href={pathOf(next)}>
          {monthName(next)} →
        </a>
      ) : null}
    </nav>
  );
}

/** Returns the month of a name (`YYYY-MM`) as text: "November 2026". */
export function monthName(name: string): string {
  return longDay(`${name}-01`).slice(2);
}
