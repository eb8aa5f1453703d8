import { percent } from "../../../base/numbers";
import type { Tone } from "../../../base/status";
import { plural } from "../../../base/text";
import { DAY_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { EmptyState, Notice } from "../../../ui/blocks";
import { DetailCard, Numbers } from "../../../ui/detail";
import { monitorPath } from "../../../ui/frame/paths";
import { type DataColumn, DataTable } from "../../../ui/list";
import { Sparkline } from "../../../ui/small-charts";
import { TimeChart, type TimePoint } from "../../../ui/time-chart";
import { shortDay } from "../../../ui/times";
import type { Span } from "../../components/rules";
import { type LatencyFigures, type LatencyTogether, latencyTogether } from "../../monitors/latency";
import { spanName } from "../../monitors/screens/range";
import { latencyInWords } from "../../monitors/screens/words";
import { readPeriod } from "../period";
import { listMeasuringMonitors } from "../store";
import type { MonitorName } from "../subject";
import { METHODS } from "../wire";
import { AnalyticsFrame, periodInput, RESPONSE_TIME_PATH, type Selection } from "./frame";

/** Share of failed checks from which a point has the tone of a major outage. */
const MANY_FAILURES = 0.05;
/** Labels of the time axis at most. */
const TICKS = 6;

/** `/admin/analytics/response-time`: response times of monitors in a period. */
export function ResponseTimes({ view }: { view: ResponseTimesView }) {
  const { selection, monitors, isTruncated, total } = view;
  return (
    <AnalyticsFrame
      path={RESPONSE_TIME_PATH}
      selection={selection}
      hasPage
      hasSpan
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
          <DetailCard title="Response time of all monitors" liveId="response-times-chart">
            {total.checks === 0 ? (
              <p class="muted">No response time was measured in this period.</p>
            ) : (
              <Chart view={view} />
            )}
          </DetailCard>
          <DataTable
            caption="Response times by monitor, slowest first"
            columns={COLUMNS}
            entries={monitors}
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
  return (
    <TimeChart
      name="Response time"
      from={period.from}
      to={period.to}
      points={steps.map((step, index): TimePoint => {
        const { checks = 0, failures = 0, p50Ms = null, p95Ms = null } = points[index] ?? {};
        return {
          ...step,
          name: stepName(step),
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
      ticks={ticksOf(steps)}
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
function ticksOf(steps: readonly Span[]): { at: number; label: string }[] {
  const distance = Math.ceil(steps.length / TICKS);
  return steps
    .filter((_, index) => index % distance === Math.floor(distance / 2))
    .map(({ from, to }) => {
      const iso = toIso(from);
      const isDay = to - from > DAY_MS / 2 || from % DAY_MS === 0;
      return { at: (from + to) / 2, label: isDay ? shortDay(iso).slice(0, -5) : iso.slice(11, 16) };
    });
}

/** Returns a step as text: "21 Nov 2026", "21 Nov 2026, 14:00–15:00 UTC", or two days. */
function stepName({ from, to }: Span): string {
  if (from % DAY_MS !== 0 || to - from <= DAY_MS / 24) return spanName({ from, to });
  const [first, last] = [shortDay(toIso(from)), shortDay(toIso(to - 1))];
  return first === last ? first : `${first} – ${last}`;
}

const COLUMNS: readonly DataColumn<MonitorTimes>[] = [
  {
    label: "Monitor",
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
  { label: "Median", isNumeric: true, cell: ({ total }) => timeOf(total.p50Ms) },
  { label: "95 % within", isNumeric: true, cell: ({ total }) => timeOf(total.p95Ms) },
  { label: "Checks", isNumeric: true, cell: ({ total }) => total.checks.toLocaleString("en") },
  {
    label: "Failed",
    isNumeric: true,
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
