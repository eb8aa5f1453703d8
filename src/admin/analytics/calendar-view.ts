import type { Reader } from "../../db/statements";
import { foldInTurns } from "../../features/analytics/fold";
import { readPeriod } from "../../features/analytics/period";
import { type ComponentRow, listComponentsOfPage } from "../../features/components/store";
import type { Folded } from "../../features/components/history";
import { knownFrom, uptimeOfDays } from "../../features/components/rules";
import { findFirstIncidentStart } from "../../features/incidents/records";
import type { PageRow } from "../../features/pages/store";
import { type HistoryEntry, readHistory } from "../../features/status/history";
import { COMPONENT_STATUSES, type ComponentStatus } from "../../base/status";
import { DAY_MS, startOfDay, toIso } from "../../base/time";
import { type Month, MONTH_PATTERN, monthOf, UTC_DAYS } from "../../public/page-context";
import { choosePage } from "../../ui/frame/page-choice";
import type { Selection } from "./selection";

/** Incidents and maintenance of a month at most. */
const ENTRIES_MAX = 100;

/** UTC day of a month. */
export interface CalendarDay {
  /** Start in unix ms. */
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

export interface CalendarView {
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
  now: number,
): Promise<CalendarView> {
  const page = selection.page ?? choosePage(selection.pages, undefined);
  const month =
    monthOf(isName(name) ? name : undefined, now, UTC_DAYS) ?? monthOf(undefined, now, UTC_DAYS);
  if (!month) throw new Error("the present month is in the future");
  const part = page
    ? readHistory(reader, { pageId: page.id, from: month.from, to: month.to }, ENTRIES_MAX)
    : { entries: [], next: undefined };
  const components = page ? listComponentsOfPage(reader, { pageId: page.id }) : [];
  const folded = await foldMonth(reader, components, month, now);
  const byDay = Map.groupBy(part.entries, ({ from }) => startOfDay(from));
  const days = Array.from({ length: (month.to - month.from) / DAY_MS }, (_, index) => {
    const at = month.from + index * DAY_MS;
    const own = folded.flatMap((each) => each[index] ?? []);
    return {
      at,
      isAhead: at >= now,
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

/** Returns the days of a month, up to now, of each component. */
async function foldMonth(
  reader: Reader,
  components: readonly ComponentRow[],
  { from, to }: Month,
  now: number,
): Promise<readonly (readonly Folded[])[]> {
  if (from >= now) return [];
  const input = { from: toIso(from), to: toIso(to), interval: "day" as const };
  return foldInTurns(reader, components, readPeriod(input, now));
}

function worstOf(days: readonly Folded[]): ComponentStatus | null {
  const worst = COMPONENT_STATUSES.findLast((status) => days.some(({ time }) => time[status] > 0));
  return worst ?? null;
}
