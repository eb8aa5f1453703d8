import type { Reader } from "../../db/statements";
import type { ComponentOnPage } from "../../features/analytics/subjects";
import { foldInTurns } from "../../features/analytics/fold";
import { LINES_MAX, type Period, readPeriod } from "../../features/analytics/period";
import { listComponents, listUnattachedMonitors } from "../../features/analytics/store";
import { sumOfFolded, uptimeByComponent, uptimeByMonitor } from "../../features/analytics/uptime";
import type { UptimeFigures, UptimeLine } from "../../features/analytics/model";
import { uptimeTogether } from "../../features/analytics/total-uptime";
import { listComponentsOfPage } from "../../features/components/store";
import { uptimeOfDays } from "../../features/components/rules";
import { listMonitorsOfPage } from "../../features/monitors/store";
import type { PageRow } from "../../features/pages/store";
import { DAY_MS } from "../../base/time";
import { drawDays } from "../../public/component-list";
import type { StatusDay } from "../../ui/day-runs";
import type { UptimePoint } from "../../ui/uptime-chart";
import { periodInput, type Selection } from "./selection";

/** Monitors shown at most. The API returns the others. */
export const MONITORS_MAX = 500;
/** Components of all pages that are read at most. */
export const COMPONENTS_MAX = 10_000;
/** Longest period whose days are drawn for each component. */
const BARS_MAX_DAYS = 92;
/** Days of all components of a page together that are drawn at most: a year of 100 components. */
const DRAWN_DAYS_MAX = 40_000;

/** Uptime of a component and of the monitors that check it. */
interface ComponentUptime {
  line: UptimeLine;
  monitors: readonly UptimeLine[];
}

/** Uptime of a page and its components. */
export interface PageUptime {
  page: PageRow;
  total: UptimeFigures;
  /** Uptime of the period of equal length before; null without data. */
  before: number | null;
  components: readonly ComponentUptime[];
  /** Uptime of all components by day, oldest first; empty if days are not drawn. */
  points: readonly UptimePoint[];
  /** Returns the days of a component, oldest first; undefined for days that are not drawn. */
  daysOf: ((componentId: string) => readonly StatusDay[]) | undefined;
}

export interface UptimeView {
  selection: Selection;
  /** Uptime of the selected page; undefined without one, and for too many components. */
  ofPage: PageUptime | undefined;
  /** Uptime of each page; empty if one is selected. */
  ofPages: readonly { page: PageRow; components: number; figures: UptimeFigures }[];
  /** Uptime of monitors without components; empty if one of several pages is selected. */
  others: readonly UptimeLine[];
  /** True if the page has too many components to show. */
  hasTooMany: boolean;
  /** True if monitors were left out because of `MONITORS_MAX`. */
  isTruncated: boolean;
  from: number;
  to: number;
  /** Time at which it was read, in unix ms. */
  now: number;
}

/**
 * Reads the uptime of the selected page, else of each page, and of monitors without components. Large
 * installations are read in several turns of the event loop.
 */
export async function readUptime(
  reader: Reader,
  selection: Selection,
  now: number,
): Promise<UptimeView> {
  const { page, pages } = selection;
  const rows = page ? listComponentsOfPage(reader, { pageId: page.id }) : [];
  const period = periodOf(selection, rows.length, now);
  const hasTooMany = rows.length > LINES_MAX;
  const unattached =
    page && pages.length > 1 ? [] : listUnattachedMonitors(reader, { limit: MONITORS_MAX + 1 });
  const onPage = page ? listMonitorsOfPage(reader, { pageId: page.id }) : [];
  const monitors = new Map(
    [...onPage, ...unattached].slice(0, MONITORS_MAX).map((each) => [each.id, each]),
  );
  const lines = new Map(
    (await uptimeByMonitor(reader, [...monitors.values()], period)).map((line) => [line.id, line]),
  );
  return {
    selection,
    ofPage:
      page && !hasTooMany
        ? await readPage(reader, { page, rows, monitors: onPage, lines, period })
        : undefined,
    ofPages: page ? [] : await readPages(reader, pages, period),
    others: unattached.flatMap(({ id }) => lines.get(id) ?? []),
    hasTooMany,
    isTruncated: onPage.length + unattached.length > MONITORS_MAX,
    from: period.from,
    to: period.to,
    now,
  };
}

/** Returns the period of a selection, by day if it is longer than a day and its days can be drawn. */
function periodOf({ span }: Selection, components: number, now: number): Period {
  const input = periodInput(span, now);
  const byDay = readPeriod({ ...input, interval: "day" }, now);
  const { from, to, spans } = byDay;
  const isDrawn = to - from > DAY_MS && spans.length * components <= DRAWN_DAYS_MAX;
  return isDrawn ? byDay : readPeriod(input, now);
}

interface PageInput {
  page: PageRow;
  rows: ReturnType<typeof listComponentsOfPage>;
  monitors: ReturnType<typeof listMonitorsOfPage>;
  /** Lines of monitors by id. */
  lines: ReadonlyMap<string, UptimeLine>;
  period: Period;
}

async function readPage(
  reader: Reader,
  { page, rows, monitors, lines, period }: PageInput,
): Promise<PageUptime> {
  const components = rows.map((row) => ({ row, pageSlug: page.slug }));
  const uptime = await uptimeByComponent(reader, components, period);
  const watching = Map.groupBy(monitors, ({ componentId }) => componentId);
  const { spans, interval } = period;
  const isByDay = interval === "day";
  const indexes = new Map(rows.map(({ id }, index) => [id, index]));
  const daysOf = (id: string) => {
    const folded = uptime.folded[indexes.get(id) ?? -1] ?? [];
    return drawDays(
      folded.map((each, index) => ({ ...each, start: spans[index]?.from ?? period.from })),
    );
  };
  return {
    page,
    total: uptime.total,
    before: (await uptimeTogether(reader, rows, before(period))).uptime,
    components: uptime.lines.map((line) => ({
      line,
      monitors: (watching.get(line.id) ?? []).flatMap(({ id }) => lines.get(id) ?? []),
    })),
    points: isByDay
      ? spans.map(({ from }, index) => ({
          at: from,
          uptime: uptimeOfDays(uptime.folded.flatMap((own) => own[index] ?? [])),
        }))
      : [],
    daysOf: isByDay && spans.length <= BARS_MAX_DAYS ? daysOf : undefined,
  };
}

/** Returns the period of equal length, in whole days, before a period. */
function before({ from, to }: Period): { from: number; to: number } {
  return { from: from - Math.ceil((to - from) / DAY_MS) * DAY_MS, to: from };
}

async function readPages(
  reader: Reader,
  pages: readonly PageRow[],
  { from, to }: Period,
): Promise<UptimeView["ofPages"]> {
  const components = listComponents(reader, { limit: COMPONENTS_MAX });
  const rows = components.map(({ component }) => component);
  const folded = await foldInTurns(reader, rows, { from, to, spans: [{ from, to }] });
  const byPage = Map.groupBy(
    components.map(({ pageSlug }, index) => ({ pageSlug, own: folded[index] ?? [] })),
    ({ pageSlug }) => pageSlug,
  );
  return pages.map((page) => {
    const own = byPage.get(page.slug) ?? [];
    const figures = sumOfFolded(
      own.map((each) => each.own),
      to - from,
    );
    return { page, components: own.length, figures };
  });
}

/** Returns a component with the slug of its page. */
export function onPage({ component: row, pageSlug }: ReturnType<typeof listComponents>[number]) {
  return { row, pageSlug } satisfies ComponentOnPage;
}
