import type { ComponentChildren } from "preact";
import { DAY_MS, startOfDay, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { MONTH_PATTERN } from "../../../public/page-context";
import { HiddenFields } from "../../../ui/form";
import { choosePage, PageFilter, readPages } from "../../../ui/frame/page-choice";
import { ANALYTICS_PATH } from "../../../ui/frame/paths";
import { FilterSelect, ListToolbar } from "../../../ui/list";
import { PageHead, Tabs } from "../../../ui/navigation";
import { countFilters } from "../../../ui/screens/list";
import type { PageRow } from "../../pages/store";
import type { PeriodInput } from "../period";

export const REPORT_PATH = `${ANALYTICS_PATH}/report`;
export const RESPONSE_TIME_PATH = `${ANALYTICS_PATH}/response-time`;
export const CALENDAR_PATH = `${ANALYTICS_PATH}/calendar`;
export const INCIDENT_FIGURES_PATH = `${ANALYTICS_PATH}/incidents`;
export const REQUEST_FIGURES_PATH = `${ANALYTICS_PATH}/requests`;
export const UPTIME_CSV_PATH = `${ANALYTICS_PATH}/uptime.csv`;

interface TimeSpan {
  label: string;
  /** Returns start and end in unix ms. A missing end means now. */
  of(now: number): { from: number; to?: number };
}

/** Returns the start of the UTC month that is `offset` months after the month of `now`, in unix ms. */
function month(now: number, offset: number): number {
  const day = new Date(now);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + offset);
}

/** Returns a period of UTC days that includes today. */
const days = (count: number): TimeSpan => ({
  label: `Last ${count} days`,
  of: (now) => ({ from: startOfDay(now) - (count - 1) * DAY_MS }),
});

const SPANS = {
  "24h": { label: "Last 24 hours", of: (now) => ({ from: now - DAY_MS }) },
  "7d": days(7),
  "30d": days(30),
  "90d": days(90),
  "365d": days(365),
  month: { label: "This month", of: (now) => ({ from: month(now, 0) }) },
  "last-month": {
    label: "Last month",
    of: (now) => ({ from: month(now, -1), to: month(now, 0) }),
  },
} satisfies Record<string, TimeSpan>;

type SpanName = keyof typeof SPANS;

/** Options of the period filter. */
const SPAN_OPTIONS = Object.entries(SPANS).map(([value, { label }]) => ({ value, label }));

const DEFAULT_SPAN: SpanName = "30d";

/** Page and period that figures cover. */
export interface Selection {
  /** All pages, the default page first. */
  pages: readonly PageRow[];
  /** Undefined for all pages. */
  page: PageRow | undefined;
  span: SpanName;
}

/**
 * Reads page and period from a query: the default page and the last 30 days unless it names others. An
 * empty `page` selects all pages.
 */
export function readSelection(
  reader: Reader,
  { page, span = "" }: Readonly<Record<string, string | undefined>>,
): Selection {
  const pages = readPages(reader);
  return {
    pages,
    page: page === "" && pages.length > 1 ? undefined : choosePage(pages, page),
    span: Object.hasOwn(SPANS, span) ? (span as SpanName) : DEFAULT_SPAN,
  };
}

/** Returns the path of figures for a page and a period, with further query parameters. */
export function selectionPath(
  path: string,
  { pages, page, span }: Selection,
  rest: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams();
  if (page?.id !== choosePage(pages, undefined)?.id) query.set("page", page?.slug ?? "");
  if (span !== DEFAULT_SPAN) query.set("span", span);
  for (const [name, value] of Object.entries(rest)) query.set(name, value);
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** Returns start and end of a period as input for the services. */
export function periodInput(name: SpanName, now: number): PeriodInput {
  const { from, to }: ReturnType<TimeSpan["of"]> = SPANS[name].of(now);
  // In the first millisecond of a month, the period would be empty.
  const start = Math.min(from, now - 1);
  return { from: toIso(start), ...(to === undefined ? {} : { to: toIso(to) }) };
}

/** Returns the month that a query names (`month=2026-11`), in UTC; undefined for none, and for one to come. */
export function readMonth(
  { month: name = "" }: Readonly<Record<string, string | undefined>>,
  now: number,
): { name: string; input: PeriodInput } | undefined {
  if (!new RegExp(MONTH_PATTERN).test(name)) return undefined;
  const from = Date.parse(`${name}-01`);
  if (from < 0 || from >= now) return undefined;
  return { name, input: { from: toIso(from), to: toIso(month(from, 1)) } };
}

/** Returns the last twelve months, including the current one. */
export function lastTwelveMonths(now: number): PeriodInput {
  return { from: toIso(Math.min(month(now, -11), now - 1)), interval: "month" };
}

const VIEWS = [
  { path: ANALYTICS_PATH, label: "Uptime" },
  { path: CALENDAR_PATH, label: "Calendar" },
  { path: RESPONSE_TIME_PATH, label: "Response time" },
  { path: INCIDENT_FIGURES_PATH, label: "Incidents" },
  { path: REQUEST_FIGURES_PATH, label: "Requests" },
  { path: REPORT_PATH, label: "Report" },
];

interface AnalyticsFrameProps {
  /** Path of the open view. */
  path: string;
  selection: Selection;
  /** True for figures of a page, and for figures of a period. */
  hasPage?: boolean;
  /** True if figures of all pages together do not exist. */
  isOnePage?: boolean;
  hasSpan?: boolean;
  /** `OrderSelect` of the table. */
  order?: ComponentChildren;
  /** Query parameters that the filters keep. */
  hidden?: Readonly<Record<string, string>>;
  actions?: ComponentChildren;
  /** Calculation methods, by the name of the figures. */
  methods: readonly { of: string; method: string }[];
  children: ComponentChildren;
}

/** Heading, tabs, filters and method notes shared by the analytics views. */
export function AnalyticsFrame(props: AnalyticsFrameProps) {
  const { path, selection, hasPage = false, hasSpan = false, methods, children } = props;
  const { pages, page, span } = selection;
  const hasChoice = hasPage && pages.length > 1;
  return (
    <>
      <PageHead title="Analytics" actions={props.actions} isList />
      <Tabs
        label="Figures"
        items={VIEWS.map(({ path: href, label }) => ({
          href: selectionPath(href, selection),
          label,
          isCurrent: href === path,
        }))}
      />
      {hasChoice || hasSpan ? (
        <ListToolbar
          action={path}
          isCard
          inForce={countFilters({
            page: page?.id === choosePage(pages, undefined)?.id ? undefined : "another",
            span: span === DEFAULT_SPAN ? undefined : span,
          })}
        >
          <HiddenFields values={props.hidden ?? {}} />
          {hasChoice ? (
            <PageFilter pages={pages} page={page} isOnePage={props.isOnePage ?? false} />
          ) : null}
          {hasSpan ? (
            <FilterSelect label="Period" name="span" options={SPAN_OPTIONS} value={span} />
          ) : null}
          {props.order}
        </ListToolbar>
      ) : null}
      <p class="print-only muted">
        {[
          VIEWS.find((view) => view.path === path)?.label,
          ...(hasPage ? [page?.name ?? "All pages"] : []),
          ...(hasSpan ? [SPAN_OPTIONS.find(({ value }) => value === span)?.label] : []),
        ].join(" · ")}
      </p>
      {children}
      {methods.map(({ of, method }) => (
        <p key={of} class="muted">
          Calculation for {of}: {method}
        </p>
      ))}
    </>
  );
}
