/*
 * Analytics: its routes, the screen of response times, and the figures of incidents. `uptime.tsx` has the uptime.
 */
import { roleAllows } from "../../../base/actor";
import { percent } from "../../../base/numbers";
import { IMPACT_TONES, type Tone } from "../../../base/status";
import { plural } from "../../../base/text";
import { DAY_MS, isUtcZone, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { session } from "../../../http/operation";
import { NO_STORE, Representation } from "../../../http/representation";
import { sessionOf, zoneOf } from "../../../http/request-context";
import { EmptyState, Notice } from "../../../ui/blocks";
import { BarChart, Sparkline } from "../../../ui/charts";
import { DetailCard, Numbers } from "../../../ui/detail";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { ANALYTICS_PATH, incidentPath, keyPath, monitorPath } from "../../../ui/frame/paths";
import { shareFigures } from "../../../ui/frame/shared-read";
import {
  type DataColumn,
  DataTable,
  inOrder,
  OrderSelect,
  RowLink,
  type Sorting,
} from "../../../ui/list";
import { createArea } from "../../../ui/screens/area";
import { readOrder } from "../../../ui/screens/list";
import { screenOperation } from "../../../ui/screens/routes";
import { TimeChart, type TimePoint } from "../../../ui/time-chart";
import {
  clockAt,
  dayAt,
  RelativeTime,
  shortDay,
  spanAt,
  useZone,
  utcDays,
} from "../../../ui/times";
import type { Span } from "../../components/rules";
import { listKeyIdsAfter } from "../../keys/store";
import { type LatencyFigures, type LatencyTogether, latencyTogether } from "../../monitors/latency";
import { latencyInWords, timeInWords } from "../../monitors/screens/words";
import { incidentsAnswer, requestsAnswer } from "../analytics";
import { LINES_MAX, readPeriod } from "../period";
import { listMeasuringMonitors } from "../store";
import { findSubject, type MonitorName } from "../subject";
import { METHODS } from "../wire";
import { Calendar, readCalendar } from "./calendar";
import {
  AnalyticsFrame,
  CALENDAR_PATH,
  INCIDENT_FIGURES_PATH,
  lastTwelveMonths,
  periodInput,
  readMonth,
  readSelection,
  REPORT_PATH,
  REQUEST_FIGURES_PATH,
  RESPONSE_TIME_PATH,
  type Selection,
  selectionPath,
} from "./frame";
import { MonthlyReport, readReport } from "./report";
import { readUptime, readUptimeCsv, readUptimeOrder, Uptime } from "./uptime";

/** `/admin/analytics`: figures, readable by every role. */
export function analyticsAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, ANALYTICS_PATH, "viewer");
  const figures = shareFigures();

  area.screen("", async ({ request, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const { after = "" } = query;
    const key = selectionPath(ANALYTICS_PATH, selection, { after });
    const read = () => readUptime(ctx.db, selection, after, now);
    const view = await figures(request, key, now, read);
    const order = readUptimeOrder(query);
    return { title: "Uptime analytics", children: <Uptime view={view} order={order} /> };
  });

  area.routes.get(
    "/uptime.csv",
    async ({ request, requestContext, query }) => {
      const selection = readSelection(ctx.db, query);
      const now = ctx.clock.now();
      const month = readMonth(query, now);
      const input = month?.input ?? periodInput(selection.span, now);
      const csv = await readUptimeCsv(ctx.db, selection, input, now);
      const period = month?.name ?? selection.span;
      const name = ["uptime", selection.page?.slug, period].filter(Boolean).join("-");
      return new Representation(csv, {
        mediaType: "text/csv; charset=utf-8; header=present",
        cacheControl: NO_STORE,
        headers: { "Content-Disposition": `attachment; filename="${name}.csv"` },
      }).respond(request, requestContext);
    },
    screenOperation(session("viewer")),
  );

  area.screen("/calendar", async ({ request, requestContext, query }) => {
    const now = ctx.clock.now();
    const timeZone = zoneOf(requestContext);
    const selection = readSelection(ctx.db, query);
    const { month = "" } = query;
    const key = `${selectionPath(CALENDAR_PATH, selection, { month })} ${timeZone}`;
    const read = () => readCalendar(ctx.db, selection, month, { now, timeZone });
    const view = await figures(request, key, now, read);
    return { title: "Calendar of uptime", children: <Calendar view={view} /> };
  });

  area.screen("/report", async ({ request, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const { month = "" } = query;
    const key = selectionPath(REPORT_PATH, selection, { month });
    const { baseUrl } = ctx;
    const read = () => readReport(ctx.db, selection, month, { now, baseUrl });
    const view = await figures(request, key, now, read);
    return { title: "Monthly report", children: <MonthlyReport view={view} /> };
  });

  area.screen("/response-time", async ({ request, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const key = selectionPath(RESPONSE_TIME_PATH, selection);
    const view = await figures(request, key, now, () => readResponseTimes(ctx.db, selection, now));
    const order = readOrder(query, Object.keys(TIME_ORDERS));
    return { title: "Response time analytics", children: <ResponseTimes {...{ view, order }} /> };
  });

  area.screen("/incidents", ({ query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const subject = findSubject(ctx.db, { page: selection.page?.slug });
    const period = readPeriod(lastTwelveMonths(now), now);
    const answer = incidentsAnswer(ctx.db, subject, period, now);
    return {
      title: "Incident analytics",
      children: <IncidentFigures {...{ selection, answer }} />,
    };
  });

  area.screen("/requests", ({ requestContext, query }) => {
    const now = ctx.clock.now();
    const selection = readSelection(ctx.db, query);
    const input = periodInput(selection.span, now);
    const ids = listKeyIdsAfter(ctx.db, { after: "", limit: LINES_MAX + 1 });
    const hasTooManyKeys = ids.length > LINES_MAX;
    const shown = {
      selection,
      order: readOrder(query, Object.keys(KEY_ORDERS)),
      answer: hasTooManyKeys ? undefined : requestsAnswer(ctx.db, input, now),
      canOpenKeys: roleAllows(sessionOf(requestContext).user.role, "admin"),
      now,
    };
    return { title: "Request analytics", children: <RequestFigures {...shown} /> };
  });

  return area.routes;
}

/** Share of failed checks from which a point has the tone of a major outage. */
const MANY_FAILURES = 0.05;
/** Labels of the time axis at most. */
const TICKS = 6;

/** `/admin/analytics/response-time`: response times of monitors in a period. */
function ResponseTimes(props: { view: ResponseTimesView; order: string | undefined }) {
  const { view, order } = props;
  const { selection, monitors, isTruncated, total } = view;
  const sorting: Sorting = {
    order,
    usual: "Slowest first",
    pathOf: (sort) => selectionPath(RESPONSE_TIME_PATH, selection, sort ? { sort } : {}),
  };
  return (
    <AnalyticsFrame
      path={RESPONSE_TIME_PATH}
      selection={selection}
      hasPage
      hasSpan
      order={<OrderSelect sorting={sorting} columns={RESPONSE_TIME_COLUMNS} />}
      methods={[{ of: "response times", method: METHODS.latency }]}
    >
      {isTruncated ? (
        <Notice tone="maint" title={`Only the first ${plural(MONITORS_MAX, "monitor")} are shown`}>
          The API returns the response times of a single monitor.
        </Notice>
      ) : null}
      {monitors.length === 0 ? (
        <EmptyState title="No monitor measures response times here">
          Response times appear here once a monitor checks a component of the page.
        </EmptyState>
      ) : (
        <>
          <TotalNumbers view={view} />
          {total.checks === 0 ? (
            <p class="muted">No response time was measured in this period.</p>
          ) : (
            <DetailCard title="Response time of all monitors" liveId="response-times-chart">
              <Chart view={view} />
            </DetailCard>
          )}
          <DataTable
            caption="Response times by monitor"
            columns={RESPONSE_TIME_COLUMNS}
            entries={inOrder(monitors, order, TIME_ORDERS)}
            sorting={sorting}
          />
        </>
      )}
    </AnalyticsFrame>
  );
}

function TotalNumbers({ view: { total, monitors } }: { view: ResponseTimesView }) {
  const slowest = monitors.find((each) => each.total.p95Ms !== null);
  return (
    <Numbers
      label="Response times of all monitors"
      liveId="response-times-figures"
      items={[
        { label: "Median", value: timeOf(total.p50Ms), note: plural(monitors.length, "monitor") },
        { label: "95 % within", value: timeOf(total.p95Ms) },
        { label: "Longest", value: timeOf(total.maxMs) },
        {
          label: "Slowest monitor",
          value: timeOf(slowest?.total.p95Ms),
          note: slowest ? (
            <a href={monitorPath(slowest.monitor.id)}>{slowest.monitor.name}</a>
          ) : undefined,
        },
        { label: "Checks", value: total.checks.toLocaleString("en") },
        {
          label: "Failed checks",
          isZero: total.failures === 0,
          value: total.failures.toLocaleString("en"),
          note: total.checks > 0 ? shareOf(total) : undefined,
        },
      ]}
    />
  );
}

/** Returns the share of failed checks: "0.12 %". Few are never shown as none. */
function shareOf({ checks, failures }: LatencyFigures): string {
  const share = failures / checks;
  return failures > 0 && share < 0.0001 ? "under 0.01 %" : percent(share, 2);
}

function Chart({ view: { steps, points, period } }: { view: ResponseTimesView }) {
  const zone = useZone();
  return (
    <TimeChart
      name="Response time"
      from={period.from}
      to={period.to}
      points={steps.map((step, index): TimePoint => {
        const { checks = 0, failures = 0, p50Ms = null, p95Ms = null } = points[index] ?? {};
        return {
          ...step,
          name: stepName(step, zone),
          median: p50Ms,
          p95: p95Ms,
          tone: toneOf(checks, failures),
          failed:
            failures > 0
              ? `${failures.toLocaleString("en")} of ${checks.toLocaleString("en")}`
              : undefined,
        };
      })}
      bands={[]}
      bandNames={[]}
      ticks={ticksOf(steps, zone)}
      write={latencyInWords}
    />
  );
}

/** Returns the tone of a step by its share of failed checks, since few of many monitors' checks fail always. */
function toneOf(checks: number, failures: number): Tone {
  if (checks === 0) return "none";
  if (failures === 0) return "ok";
  return failures / checks < MANY_FAILURES ? "partial" : "major";
}

/** Returns labels for evenly spread steps. */
function ticksOf(steps: readonly Span[], zone: string): { at: number; label: string }[] {
  const distance = Math.ceil(steps.length / TICKS);
  return steps
    .filter((_, index) => index % distance === Math.floor(distance / 2))
    .map(({ from, to }) => {
      // Whole days are those of UTC.
      if (to - from > DAY_MS / 2)
        return { at: (from + to) / 2, label: shortDay(toIso(from)).slice(0, -5) };
      const isMidnight = clockAt(from, zone) === "00:00";
      const label = isMidnight ? dayAt(from, zone).slice(0, -5) : clockAt(from, zone);
      return { at: (from + to) / 2, label };
    });
}

/** Returns a step as text: "21 Nov 2026", "21 Nov 2026, 14:00–15:00 UTC", or two days. */
function stepName({ from, to }: Span, zone: string): string {
  const isOfDays = from % DAY_MS === 0 && to - from > DAY_MS / 24;
  return isOfDays ? utcDays({ from, to }, zone) : spanAt({ from, to }, zone);
}

/** Values by which monitors can be ordered. */
const TIME_ORDERS: Readonly<Record<string, (times: MonitorTimes) => string | number | null>> = {
  name: ({ monitor }) => monitor.name,
  median: ({ total }) => total.p50Ms,
  p95: ({ total }) => total.p95Ms,
  checks: ({ total }) => total.checks,
  failed: ({ total }) => total.failures,
};

const RESPONSE_TIME_COLUMNS: readonly DataColumn<MonitorTimes>[] = [
  {
    label: "Monitor",
    sort: { key: "name" },
    cell: ({ monitor: { id, name } }) => <a href={monitorPath(id)}>{name}</a>,
  },
  {
    label: "Median over time",
    cell({ total, medians }) {
      const values = medians.map((ms) => ms ?? 0);
      const label =
        total.p50Ms === null
          ? "No response"
          : `Medians up to ${latencyInWords(Math.max(...values))}`;
      return <Sparkline values={values} label={label} />;
    },
  },
  {
    label: "Median",
    isNumeric: true,
    sort: { key: "median", kind: "number" },
    cell: ({ total }) => timeOf(total.p50Ms),
  },
  {
    label: "95 % within",
    isNumeric: true,
    sort: { key: "p95", kind: "number", usual: "descending" },
    cell: ({ total }) => timeOf(total.p95Ms),
  },
  {
    label: "Checks",
    isNumeric: true,
    sort: { key: "checks", kind: "number" },
    cell: ({ total }) => total.checks.toLocaleString("en"),
  },
  {
    label: "Failed",
    isNumeric: true,
    sort: { key: "failed", kind: "number" },
    cell: ({ total: { failures } }) => (failures === 0 ? null : failures.toLocaleString("en")),
  },
];

function timeOf(ms: number | null | undefined): string {
  return ms == null ? "–" : latencyInWords(ms);
}

/** Monitors whose response times are shown at most. The API returns those of others. */
const MONITORS_MAX = 100;
/** Points of a chart at most. */
const POINTS_MAX = 92;

/** Response times of a monitor in a period. */
type MonitorTimes = LatencyTogether["each"][number] & { monitor: MonitorName };

interface ResponseTimesView {
  selection: Selection;
  period: Span;
  /** Periods of the chart's points, oldest first: hours, days or several days. */
  steps: readonly Span[];
  /** Response times of all monitors, by step. */
  points: LatencyTogether["intervals"];
  total: LatencyTogether["total"];
  /** Monitors with the highest 95th percentile first, those without a response last. */
  monitors: readonly MonitorTimes[];
  /** True if monitors were left out because of `MONITORS_MAX`. */
  isTruncated: boolean;
  /** Time at which it was read, in unix ms. */
  now: number;
}

/** Reads the response times of a page's monitors, or of all monitors, except those that jobs call. */
export async function readResponseTimes(
  reader: Reader,
  selection: Selection,
  now: number,
): Promise<ResponseTimesView> {
  const pageId = selection.page?.id ?? null;
  const listed = listMeasuringMonitors(reader, { pageId, limit: MONITORS_MAX + 1 });
  const shown = listed.slice(0, MONITORS_MAX);
  const input = periodInput(selection.span, now);
  const { from, to } = readPeriod(input, now);
  const interval = to - from > DAY_MS ? "day" : "hour";
  const steps = groupsOf(readPeriod({ ...input, interval }, now).spans);
  const nums = shown.map(({ num }) => num);
  const { intervals, total, each } = await latencyTogether(reader, nums, steps);
  const monitors = shown.flatMap((monitor, index) => {
    const times = each[index];
    return times ? [{ monitor, ...times }] : [];
  });
  return {
    selection,
    period: { from, to },
    steps,
    points: intervals,
    total,
    monitors: monitors.toSorted((a, b) => (b.total.p95Ms ?? -1) - (a.total.p95Ms ?? -1)),
    isTruncated: listed.length > MONITORS_MAX,
    now,
  };
}

/** Joins consecutive spans so that at most `POINTS_MAX` remain. */
function groupsOf(spans: readonly Span[]): Span[] {
  const size = Math.ceil(spans.length / POINTS_MAX);
  return Array.from({ length: Math.ceil(spans.length / size) }, (_, index) => {
    const own = spans.slice(index * size, (index + 1) * size);
    return { from: own[0]?.from ?? 0, to: own.at(-1)?.to ?? 0 };
  });
}

const IMPACTS = [
  { impact: "critical", label: "Critical" },
  { impact: "major", label: "Major" },
  { impact: "minor", label: "Minor" },
  { impact: "none", label: "No impact" },
] as const;

/** `/admin/analytics/incidents`: incidents that started in each month, and their durations. */
function IncidentFigures(props: {
  selection: Selection;
  answer: ReturnType<typeof incidentsAnswer>;
}) {
  const { selection, answer } = props;
  const { total, data } = answer;
  const months = isUtcZone(useZone()) ? undefined : <span class="muted">Months of UTC</span>;
  return (
    <AnalyticsFrame
      path={INCIDENT_FIGURES_PATH}
      selection={selection}
      hasPage
      methods={[{ of: "incidents", method: answer.method }]}
    >
      <Numbers
        label="Incidents in 12 months"
        liveId="incident-figures"
        items={[
          { label: "Incidents", value: total.count.toLocaleString("en"), note: "in 12 months" },
          {
            label: "Critical",
            isZero: total.critical === 0,
            value: total.critical.toLocaleString("en"),
          },
          { label: "Major", isZero: total.major === 0, value: total.major.toLocaleString("en") },
          {
            label: "Open",
            isZero: total.count === total.resolved,
            value: (total.count - total.resolved).toLocaleString("en"),
            note: "not resolved yet",
          },
          {
            label: "To resolve",
            isZero: total.time_to_resolve_ms === null,
            value: time(total.time_to_resolve_ms),
            note: "on average",
          },
          {
            label: "Longest",
            isZero: total.longest_ms === null,
            value: time(total.longest_ms),
            note:
              total.longest_id === null ? undefined : (
                <a href={incidentPath(total.longest_id)}>Open the incident</a>
              ),
          },
        ]}
      />
      <DetailCard title="Incidents by month" liveId="incident-chart" end={months}>
        <BarChart
          name="Incidents by month"
          parts={IMPACTS.map(({ impact, label }) => ({ label, tone: IMPACT_TONES[impact] }))}
          bars={data.map((line) => ({
            name: monthOf(line.from),
            counts: IMPACTS.map(({ impact }) => line[impact]),
          }))}
        />
      </DetailCard>
      <DataTable
        caption="Incidents by month"
        columns={INCIDENT_COLUMNS}
        entries={data.toReversed()}
      />
    </AnalyticsFrame>
  );
}

type Month = ReturnType<typeof incidentsAnswer>["data"][number];

const INCIDENT_COLUMNS: readonly DataColumn<Month>[] = [
  { label: "Month", cell: ({ from }) => monthOf(from) },
  {
    label: "Incidents",
    isNumeric: true,
    cell: ({ count }) => (count === 0 ? null : <span class="strong">{written(count)}</span>),
  },
  { label: "Minor", isNumeric: true, cell: ({ minor }) => <Count of={minor} /> },
  { label: "Major", isNumeric: true, cell: ({ major }) => <Count of={major} /> },
  { label: "Critical", isNumeric: true, cell: ({ critical }) => <Count of={critical} /> },
  { label: "No impact", isNumeric: true, cell: ({ none }) => <Count of={none} /> },
  { label: "To identify", isNumeric: true, cell: (line) => time(line.time_to_identify_ms) },
  { label: "To resolve", isNumeric: true, cell: (line) => time(line.time_to_resolve_ms) },
  {
    label: "Longest",
    isNumeric: true,
    cell: ({ longest_id, longest_ms }) =>
      longest_id === null ? null : <a href={incidentPath(longest_id)}>{time(longest_ms)}</a>,
  },
];

function Count({ of: count }: { of: number }) {
  return count === 0 ? null : <span>{written(count)}</span>;
}

function written(count: number): string {
  return count.toLocaleString("en");
}

function time(ms: number | null) {
  return ms === null ? null : timeInWords(ms);
}

const MONTHS = new Intl.DateTimeFormat("en-GB", {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** Returns month and year: "November 2026". */
function monthOf(iso: string): string {
  return MONTHS.format(new Date(iso));
}

interface RequestFiguresProps {
  selection: Selection;
  /** Figures by key; undefined if there are too many keys to show. */
  answer: ReturnType<typeof requestsAnswer> | undefined;
  /** Undefined for most requests first. */
  order: string | undefined;
  /** True if the user may open API keys. */
  canOpenKeys: boolean;
  now: number;
}

/** `/admin/analytics/requests`: responses to the requests of each API key. */
function RequestFigures(props: RequestFiguresProps) {
  const { selection, answer, order, canOpenKeys, now } = props;
  const byTotal = answer?.data.toSorted((a, b) => b.total - a.total) ?? [];
  const data = inOrder(byTotal, order, KEY_ORDERS);
  const columns = requestColumns(canOpenKeys, now);
  const sorting: Sorting = {
    order,
    usual: "Most requests first",
    pathOf: (sort) => selectionPath(REQUEST_FIGURES_PATH, selection, sort ? { sort } : {}),
  };
  return (
    <AnalyticsFrame
      path={REQUEST_FIGURES_PATH}
      selection={selection}
      hasSpan
      order={<OrderSelect sorting={sorting} columns={columns} />}
      methods={answer ? [{ of: "requests", method: answer.method }] : []}
    >
      {answer ? null : (
        <Notice tone="maint" title="There are too many keys to show at once">
          The API returns the requests of a single key.
        </Notice>
      )}
      {answer && data.length === 0 ? (
        <EmptyState title="No API keys yet">
          The requests of each API key and their responses appear here.
        </EmptyState>
      ) : null}
      {answer && data.length > 0 ? (
        <DataTable caption="Requests by key" columns={columns} entries={data} sorting={sorting} />
      ) : null}
    </AnalyticsFrame>
  );
}

type KeyLine = ReturnType<typeof requestsAnswer>["data"][number];

/** Values by which keys can be ordered. */
const KEY_ORDERS: Readonly<Record<string, (key: KeyLine) => string | number | null>> = {
  name: ({ name }) => name,
  requests: ({ total }) => total,
  succeeded: ({ ok }) => ok,
  failed: ({ client_error }) => client_error,
  limited: ({ limited }) => limited,
  used: ({ last_used_at }) => last_used_at && Date.parse(last_used_at),
};

function requestColumns(canOpenKeys: boolean, now: number): DataColumn<KeyLine>[] {
  const count = (of: number) => (of === 0 ? null : written(of));
  return [
    {
      label: "Key",
      sort: { key: "name" },
      cell: ({ id, name }) =>
        canOpenKeys ? (
          <RowLink href={keyPath(id)}>{name}</RowLink>
        ) : (
          <span class="strong">{name}</span>
        ),
    },
    {
      label: "Requests",
      isNumeric: true,
      sort: { key: "requests", kind: "number", usual: "descending" },
      cell: ({ total }) => count(total),
    },
    {
      label: "Succeeded",
      isNumeric: true,
      sort: { key: "succeeded", kind: "number" },
      cell: ({ ok }) => count(ok),
    },
    {
      label: "Failed (4xx)",
      isNumeric: true,
      sort: { key: "failed", kind: "number" },
      cell: ({ client_error }) => count(client_error),
    },
    {
      label: "Rate-limited",
      isNumeric: true,
      sort: { key: "limited", kind: "number" },
      cell: ({ limited }) => count(limited),
    },
    {
      label: "Last used",
      sort: { key: "used", kind: "time" },
      cell: ({ last_used_at }) =>
        last_used_at === null ? (
          <span class="quiet-text">Never</span>
        ) : (
          <RelativeTime at={last_used_at} now={now} />
        ),
    },
  ];
}
