import { percent } from "../../../base/numbers";
import { plural } from "../../../base/text";
import { DAY_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { drawDays } from "../../../public/component-list";
import { EmptyState, Notice, Section } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DayChart, runsOf, type StatusDay } from "../../../ui/day-charts";
import { DetailCard, Numbers } from "../../../ui/detail";
import { labelAmong } from "../../../ui/frame/page-choice";
import { ANALYTICS_PATH, componentPath, monitorPath } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import {
  Cell,
  CellNote,
  type Column,
  inOrder,
  OrderSelect,
  Row,
  type Sorting,
  Table,
} from "../../../ui/list";
import { Pagination } from "../../../ui/navigation";
import { readOrder } from "../../../ui/screens/list";
import { dateTimeAt, longDay, shortDay, useZone } from "../../../ui/times";
import { UptimeChart, type UptimePoint } from "../../../ui/time-chart";
import { uptimeOfDays } from "../../components/rules";
import { listComponentsOfPage } from "../../components/store";
import { timeInWords } from "../../monitors/screens/words";
import { listMonitorsOfPage } from "../../monitors/store";
import type { PageRow } from "../../pages/store";
import {
  foldInTurns,
  sumOfFolded,
  uptimeByComponent,
  uptimeByMonitor,
  uptimeTogether,
} from "../analytics";
import { LINES_MAX, type Period, type PeriodInput, readPeriod } from "../period";
import { listComponents, listUnattachedMonitors } from "../store";
import type { ComponentOnPage } from "../subject";
import { answerToCsv, METHODS, type UptimeFigures, UptimeLine } from "../wire";
import {
  AnalyticsFrame,
  periodInput,
  type Selection,
  selectionPath,
  UPTIME_CSV_PATH,
} from "./frame";

type Line = UptimeView["others"][number];

const COLUMNS: readonly Column[] = [
  { label: "Component or monitor", sort: { key: "name" } },
  { label: "Uptime", isNumeric: true, sort: { key: "uptime", kind: "lowest" } },
  { label: "Down", isNumeric: true, sort: { key: "down", kind: "number" } },
  { label: "Degraded", isNumeric: true, sort: { key: "degraded", kind: "number" } },
  { label: "Maintenance", isNumeric: true, sort: { key: "maintenance", kind: "number" } },
  { label: "No data", isNumeric: true, sort: { key: "no_data", kind: "number" } },
];

/** Figures of a component, a monitor or a page, with its name. */
type Named = UptimeFigures & { name: string };

/** Values by which the tables can be ordered. */
const ORDERS: Readonly<Record<string, (line: Named) => string | number | null>> = {
  name: ({ name }) => name,
  uptime: ({ uptime }) => uptime,
  down: ({ down_ms }) => down_ms,
  degraded: ({ degraded_ms }) => degraded_ms,
  maintenance: ({ maintenance_ms }) => maintenance_ms,
  no_data: ({ no_data_ms }) => no_data_ms,
};

/** Reads the order of the tables from a query. */
export function readUptimeOrder(query: Readonly<Record<string, string | undefined>>) {
  return readOrder(query, Object.keys(ORDERS));
}

/** Returns entries in an order by the figures that `lineOf` returns. */
function ordered<Entry>(
  entries: readonly Entry[],
  sorting: Sorting | undefined,
  lineOf: (entry: Entry) => Named,
): readonly Entry[] {
  const lines = entries.map((entry) => ({ entry, ...lineOf(entry) }));
  return inOrder(lines, sorting?.order, ORDERS).map(({ entry }) => entry);
}

/** `/admin/analytics`: uptime of components and monitors in a period. */
export function Uptime({ view, order }: { view: UptimeView; order: string | undefined }) {
  const { selection, ofPage, ofPages, others, after, next, hasTooMany, isTruncated } = view;
  // Only a whole list can be ordered.
  const isWhole = after === "" && next === undefined;
  const sorting: Sorting | undefined = isWhole
    ? {
        order,
        usual: "Order of the page",
        pathOf: (sort) => selectionPath(ANALYTICS_PATH, selection, sort ? { sort } : {}),
      }
    : undefined;
  const isEmpty =
    !hasTooMany &&
    (ofPage?.components.length ?? 0) === 0 &&
    ofPages.length === 0 &&
    others.length === 0;
  return (
    <AnalyticsFrame
      path={ANALYTICS_PATH}
      selection={selection}
      hasPage
      hasSpan
      order={<OrderSelect sorting={sorting} columns={COLUMNS} />}
      methods={[
        { of: "components", method: METHODS.uptimeOfComponents },
        { of: "monitors", method: METHODS.uptimeOfMonitors },
      ]}
      actions={
        isEmpty ? undefined : (
          <ButtonLink href={selectionPath(UPTIME_CSV_PATH, selection)}>
            <Icon name="download" />
            Download CSV
          </ButtonLink>
        )
      }
    >
      <p class="muted">{spanOf(view, useZone())}</p>
      {hasTooMany ? (
        <Notice tone="maint" title="There are too many components to show at once">
          The API returns the uptime of a single component.
        </Notice>
      ) : null}
      {isTruncated ? (
        <Notice tone="maint" title={`Only ${plural(MONITORS_MAX, "monitor")} are shown`}>
          The API returns the uptime of a single monitor.
        </Notice>
      ) : null}
      {isEmpty ? (
        <EmptyState title="No components or monitors yet">
          Uptime appears here once there are components or monitors.
        </EmptyState>
      ) : null}
      {ofPage ? (
        <OfPage uptime={ofPage} isUntilToday={view.to === view.now} sorting={sorting} />
      ) : null}
      {ofPages.length > 0 ? <Pages view={view} sorting={sorting} /> : null}
      {others.length > 0 ? (
        <Section title="Monitors without a component">
          <Table
            columns={COLUMNS}
            caption="Uptime of monitors without a component"
            sorting={sorting}
          >
            {ordered(others, sorting, (line) => line).map((line) => (
              <LineRow key={line.id} line={line} />
            ))}
          </Table>
          <Pagination
            newest="First monitors"
            newestHref={after === "" ? undefined : selectionPath(ANALYTICS_PATH, selection)}
            older="More monitors"
            olderHref={next && selectionPath(ANALYTICS_PATH, selection, { after: next })}
          />
        </Section>
      ) : null}
    </AnalyticsFrame>
  );
}

/** Returns the days of a period as text, or the times of the last 24 hours. Its end is exclusive. */
function spanOf({ from, to, now }: UptimeView, zone: string): string {
  const [begin, end] = [toIso(from), toIso(to - 1)];
  if (from % DAY_MS !== 0) return `${dateTimeAt(from, zone)} to now`;
  return `${longDay(begin)} to ${to === now ? "now" : longDay(end)}, in UTC days`;
}

function OfPage(props: {
  uptime: PageUptime;
  isUntilToday: boolean;
  sorting: Sorting | undefined;
}) {
  const { uptime, isUntilToday, sorting } = props;
  const { page, components } = uptime;
  if (components.length === 0) return null;
  return (
    <>
      <UptimeNumbers uptime={uptime} />
      <UptimeCharts uptime={uptime} isUntilToday={isUntilToday} />
      <Table columns={COLUMNS} caption={`Uptime of ${page.name}`} sorting={sorting}>
        {ordered(components, sorting, ({ line }) => line).flatMap(({ line, monitors }) => [
          <LineRow key={line.id} line={line} />,
          ...monitors.map((monitor) => (
            <LineRow key={`${line.id} ${monitor.id}`} line={monitor} isBelow />
          )),
        ])}
      </Table>
    </>
  );
}

/** Uptime of each page, with links to its components. */
function Pages({ view, sorting }: { view: UptimeView; sorting: Sorting | undefined }) {
  const { ofPages, selection } = view;
  const lineOf = ({ page, figures }: (typeof ofPages)[number]) => ({ ...figures, name: page.name });
  return (
    <Table
      columns={COLUMNS.map((column, index) =>
        index === 0 ? { ...column, label: "Page" } : column,
      )}
      caption="Uptime of pages"
      sorting={sorting}
    >
      {ordered(ofPages, sorting, lineOf).map(({ page, components, figures }) => (
        <Row key={page.id}>
          <Cell>
            <a href={selectionPath(ANALYTICS_PATH, { ...selection, page })}>
              {labelAmong(selection.pages, page)}
            </a>
            <CellNote>{plural(components, "component")}</CellNote>
          </Cell>
          <Figures figures={figures} />
        </Row>
      ))}
    </Table>
  );
}

function LineRow({ line, isBelow = false }: { line: Line; isBelow?: boolean }) {
  const { kind, id, name } = line;
  const href = kind === "monitor" ? monitorPath(id) : componentPath(id);
  return (
    <Row>
      <Cell>
        {isBelow ? (
          <CellNote>
            Monitor <a href={href}>{name}</a>
          </CellNote>
        ) : (
          <a href={href}>{name}</a>
        )}
      </Cell>
      <Figures figures={line} isQuiet={isBelow} />
    </Row>
  );
}

/** Cells of the figures of a row. */
function Figures({ figures, isQuiet = false }: { figures: UptimeFigures; isQuiet?: boolean }) {
  return (
    <>
      <Cell label="Uptime" isNumeric>
        <span class={isQuiet ? "quiet-text" : "strong"}>{percent(figures.uptime, 3)}</span>
      </Cell>
      <Time label="Down" ms={figures.down_ms} />
      <Time label="Degraded" ms={figures.degraded_ms} />
      <Time label="Maintenance" ms={figures.maintenance_ms} />
      <Time label="No data" ms={figures.no_data_ms} />
    </>
  );
}

function Time({ label, ms }: { label: string; ms: number }) {
  return (
    <Cell label={label} isNumeric>
      {ms === 0 ? null : timeInWords(ms)}
    </Cell>
  );
}

/** Monitors of a page that are shown at most. The API returns the others. */
const MONITORS_MAX = 500;
/** Monitors without a component that are shown at once. */
const OTHERS_SHOWN = 100;
/** Components of all pages that are read at most. */
const COMPONENTS_MAX = 10_000;
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
interface PageUptime {
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

interface UptimeView {
  selection: Selection;
  /** Uptime of the selected page; undefined without one, and for too many components. */
  ofPage: PageUptime | undefined;
  /** Uptime of each page; empty if one is selected. */
  ofPages: readonly { page: PageRow; components: number; figures: UptimeFigures }[];
  /** Uptime of monitors without components, by id; empty if one of several pages is selected. */
  others: readonly UptimeLine[];
  /** Id of the last monitor without a component before these; empty for the first ones. */
  after: string;
  /** Id of the last of `others` if more follow. */
  next: string | undefined;
  /** True if the page has too many components to show. */
  hasTooMany: boolean;
  /** True if monitors of the page were left out because of `MONITORS_MAX`. */
  isTruncated: boolean;
  from: number;
  to: number;
  /** Time at which it was read, in unix ms. */
  now: number;
}

/**
 * Reads the uptime of the selected page, else of each page, and of the monitors without components whose
 * ids follow `after`. Large installations are read in several turns of the event loop.
 */
export async function readUptime(
  reader: Reader,
  selection: Selection,
  after: string,
  now: number,
): Promise<UptimeView> {
  const { page, pages } = selection;
  const rows = page ? listComponentsOfPage(reader, { pageId: page.id }) : [];
  const period = periodOf(selection, rows.length, now);
  const hasTooMany = rows.length > LINES_MAX;
  const unattached =
    page && pages.length > 1
      ? []
      : listUnattachedMonitors(reader, { after, limit: OTHERS_SHOWN + 1 });
  const others = unattached.slice(0, OTHERS_SHOWN);
  const onPage = page ? listMonitorsOfPage(reader, { pageId: page.id }) : [];
  const monitors = new Map(
    [...onPage.slice(0, MONITORS_MAX), ...others].map((each) => [each.id, each]),
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
    others: others.flatMap(({ id }) => lines.get(id) ?? []),
    after,
    next: unattached.length > others.length ? others.at(-1)?.id : undefined,
    hasTooMany,
    isTruncated: onPage.length > MONITORS_MAX,
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
function onPage({ component: row, pageSlug }: ReturnType<typeof listComponents>[number]) {
  return { row, pageSlug } satisfies ComponentOnPage;
}

/** Components drawn of one page, worst first. The table below has all of them. */
const ROWS_MAX = 30;

/** Figures of a page in a period. */
function UptimeNumbers({ uptime }: { uptime: PageUptime }) {
  const { page, total, before, components } = uptime;
  const lowest = worstFirst(components)[0]?.line;
  const time = (ms: number | null) => ({ value: timeInWords(ms ?? 0), isZero: !ms });
  return (
    <Numbers
      label={`Figures of ${page.name}`}
      liveId={`uptime-figures-${page.id}`}
      items={[
        {
          label: "Uptime",
          value: percent(total.uptime, 3),
          note: before === null ? "all components" : `${percent(before, 3)} before`,
        },
        { label: "Major outage", ...time(total.major_outage_ms), note: "sum of components" },
        { label: "Partial outage", ...time(total.partial_outage_ms), note: "counts 30 %" },
        {
          label: "Lowest component",
          value: percent(lowest?.uptime ?? null, 3),
          note: lowest ? <a href={componentPath(lowest.id)}>{lowest.name}</a> : undefined,
        },
        { label: "Degraded", ...time(total.degraded_ms), note: "counts as up" },
        { label: "Maintenance", ...time(total.maintenance_ms), note: "not counted" },
      ]}
    />
  );
}

/**
 * Uptime of a page day by day, and the days of its components. Draws no chart of a single day, and no
 * days of components for a period that is too long.
 */
function UptimeCharts(props: { uptime: PageUptime; isUntilToday: boolean }) {
  const { uptime, isUntilToday } = props;
  const { page, points } = uptime;
  if (points.length === 0) return null;
  return (
    <>
      <DetailCard title="Uptime, day by day" liveId={`uptime-chart-${page.id}`}>
        <UptimeChart name={`Uptime of ${page.name}`} points={points} isUntilToday={isUntilToday} />
      </DetailCard>
      <Matrix {...props} />
    </>
  );
}

/** Days of the components of a page, worst first. */
function Matrix({ uptime, isUntilToday }: { uptime: PageUptime; isUntilToday: boolean }) {
  const { page, components, points, daysOf } = uptime;
  if (!daysOf) return null;
  const rows = worstFirst(components).slice(0, ROWS_MAX);
  const others = components.length - rows.length;
  return (
    <DetailCard
      title="Components, worst first"
      liveId={`uptime-days-${page.id}`}
      end={<span class="muted">One bar a day, in the colour of its worst status</span>}
    >
      <div data-days>
        <ul class="uptime-matrix">
          {rows.map(({ line: { id, name, uptime: share } }) => (
            <li key={id}>
              <a href={componentPath(id)} title={name}>
                {name}
              </a>
              <DayChart
                label={`${name}, day by day`}
                runs={runsOf(daysOf(id))}
                minDays={points.length}
              />
              <span>{percent(share, 2)}</span>
            </li>
          ))}
        </ul>
        <p class="uptime-matrix-axis" aria-hidden="true">
          <span>
            <span>{dayOf(points[0])}</span>
            <span data-day-note />
            <span>{isUntilToday ? "Today" : dayOf(points.at(-1))}</span>
          </span>
        </p>
      </div>
      {others > 0 ? (
        <p class="muted">The table below has {plural(others, "more component")}.</p>
      ) : null}
    </DetailCard>
  );
}

/** Returns the day of a point as text: "9 Feb". */
function dayOf(point: PageUptime["points"][number] | undefined): string {
  return point ? shortDay(toIso(point.at)).slice(0, -5) : "";
}

/** Returns the components with the lowest uptime first, and those without data last. */
function worstFirst(components: PageUptime["components"]): PageUptime["components"] {
  return components.toSorted((a, b) => (a.line.uptime ?? 2) - (b.line.uptime ?? 2));
}

/**
 * Returns the uptime as CSV: components by page, then their monitors and, without a selected page, the
 * monitors without components, each with its calculation method.
 */
export async function readUptimeCsv(
  reader: Reader,
  { page, pages }: Selection,
  input: PeriodInput,
  now: number,
): Promise<string> {
  const period = readPeriod(input, now);
  const components = page
    ? listComponentsOfPage(reader, { pageId: page.id }).map((row) => ({
        row,
        pageSlug: page.slug,
      }))
    : listComponents(reader, { limit: COMPONENTS_MAX }).map(onPage);
  const shown = page ? [page] : pages;
  const attached = shown.flatMap(({ id }) => listMonitorsOfPage(reader, { pageId: id }));
  const unattached =
    page && pages.length > 1
      ? []
      : listUnattachedMonitors(reader, { after: "", limit: COMPONENTS_MAX });
  const monitors = new Map([...attached, ...unattached].map((each) => [each.id, each]));
  const head = { from: toIso(period.from), to: toIso(period.to), interval: null };
  const ofComponents = answerToCsv(UptimeLine, {
    ...head,
    method: METHODS.uptimeOfComponents,
    data: [...(await uptimeByComponent(reader, components, period)).lines],
  });
  const ofMonitors = answerToCsv(UptimeLine, {
    ...head,
    method: METHODS.uptimeOfMonitors,
    data: await uptimeByMonitor(reader, [...monitors.values()], period),
  });
  return ofComponents + ofMonitors.slice(ofMonitors.indexOf("\n") + 1);
}
