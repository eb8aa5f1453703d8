/*
 * Figures of a period, as the API and the dashboard answer them: `uptimeAnswer`, `latencyAnswer`, `incidentsAnswer`,
 * `requestsAnswer`. What they read and how they are counted is in `wire.ts` (`METHODS`).
 */
import { invalidParameter } from "../../base/errors";
import { HOUR_MS, toIso, toIsoOrNull } from "../../base/time";
import type { Reader } from "../../db/statements";
import {
  addTimes as addStatusTimes,
  countedTime,
  downTime,
  type Folded,
  foldSpans,
  knownFrom,
  type Span,
  uptimeOfTime,
} from "../components/rules";
import type { ComponentRow } from "../components/store";
import { listSpans, sumTimes } from "../monitors/spans-store";
import { type LatencyFigures, latencyOfEach } from "../monitors/latency";
import {
  addTimes,
  knownTime,
  timesByInterval,
  uptimeOf,
  type UptimeTimes,
} from "../monitors/uptime";
import {
  LINES_MAX,
  numberOf,
  type Period,
  type PeriodInput,
  readPeriod,
  requireLines,
} from "./period";
import {
  countIncidents,
  countRequests,
  listCauses,
  listComponents,
  listKeys,
  listNoData,
  unitOf,
} from "./store";
import {
  type ComponentOnPage,
  componentsOf,
  type MonitorName,
  monitorsOf,
  type Subject,
} from "./subject";
import {
  type IncidentFigures,
  type IncidentsAnswer,
  type LatencyAnswer,
  METHODS,
  type RequestFigures,
  type RequestsAnswer,
  type UptimeAnswer,
  type UptimeFigures,
  type UptimeLine,
} from "./wire";

/**
 * Returns the uptime of a monitor, or of each component of the subject, by interval and together.
 * Throws `invalid_request` for more lines than an answer may have.
 */
export function uptimeAnswer(reader: Reader, subject: Subject, period: Period): UptimeAnswer {
  if (subject.monitor) return uptimeOfMonitor(reader, subject.monitor, period);
  const components = componentsOf(reader, subject);
  requireLines(components.length, period);
  return uptimeOfComponents(reader, components, period);
}

function uptimeOfComponents(
  reader: Reader,
  components: readonly ComponentOnPage[],
  period: Period,
): UptimeAnswer {
  const { from, to, spans } = period;
  const rows = components.map(({ row }) => row);
  const folded = foldComponents(reader, rows, period);
  const intervals = spans.map(intervalOf);
  const data = components.flatMap((component, i) =>
    intervals.map((at, j) => lineOfComponent(component, folded[i]?.[j]?.time ?? NO_TIME, at)),
  );
  const whole = addStatusTimes(folded.flat().map(({ time }) => time));
  const total = figuresOfTime(whole, (to - from) * components.length);
  return { ...headOf(period, METHODS.uptimeOfComponents), total, data };
}

function uptimeOfMonitor(reader: Reader, monitor: MonitorName, period: Period): UptimeAnswer {
  const { from, to, spans } = period;
  const nums = JSON.stringify([monitor.num]);
  const timeline = listSpans(reader, { nums, from, to }).map(({ row }) => row);
  const times = timesByInterval(timeline, spans);
  const data = spans.map((span, i) =>
    lineOfMonitor(monitor, times[i] ?? NO_STATES, intervalOf(span)),
  );
  const total = figuresOfStates(addTimes(times), to - from);
  return { ...headOf(period, METHODS.uptimeOfMonitors), total, data };
}

/** Components with their times in a period, each in several spans and as a line of the whole period. */
interface ComponentsUptime {
  total: UptimeFigures;
  /** A line for each component. */
  lines: readonly UptimeLine[];
  /** Times of each component by span of the period. */
  folded: readonly (readonly Folded[])[];
}

/** Monitors whose timelines are read in one turn of the event loop. */
const MONITORS_PER_TURN = 20;

/**
 * Returns the uptime of components in a period, by the method of `uptimeAnswer`, in several turns of the
 * event loop for many components.
 */
export async function uptimeByComponent(
  reader: Reader,
  components: readonly ComponentOnPage[],
  period: Period,
): Promise<ComponentsUptime> {
  const rows = components.map(({ row }) => row);
  const folded = await foldInTurns(reader, rows, period);
  const times = folded.map((own) => addStatusTimes(own.map(({ time }) => time)));
  const interval = intervalOf(period);
  return {
    total: figuresOfTime(addStatusTimes(times), (period.to - period.from) * components.length),
    lines: components.map((component, i) =>
      lineOfComponent(component, times[i] ?? NO_TIME, interval),
    ),
    folded,
  };
}

/** Returns the sum of components' lines, which are of a period that is `length` ms long. */
export function sumOfFolded(folded: Iterable<readonly Folded[]>, length: number): UptimeFigures {
  const each = Array.from(folded);
  const times = each.flatMap((own) => own.map(({ time }) => time));
  return figuresOfTime(addStatusTimes(times), length * each.length);
}

/** Returns a line for each monitor, read in several turns of the event loop for many monitors. */
export async function uptimeByMonitor(
  reader: Reader,
  monitors: readonly MonitorName[],
  { from, to }: Span,
): Promise<UptimeLine[]> {
  const interval = intervalOf({ from, to });
  return inTurns(monitors, MONITORS_PER_TURN, (part) => {
    const nums = JSON.stringify(part.map(({ num }) => num));
    const sums = new Map(sumTimes(reader, { nums, from, to }).map((times) => [times.num, times]));
    return part.map((each) => lineOfMonitor(each, sums.get(each.num) ?? NO_STATES, interval));
  });
}

function lineOfComponent(
  { row: { id, name }, pageSlug }: ComponentOnPage,
  time: Folded["time"],
  { length, from, to }: Interval,
): UptimeLine {
  const figures = figuresOfTime(time, length);
  return { kind: "component", id, name, page: pageSlug, from, to, ...figures };
}

function lineOfMonitor({ id, name }: MonitorName, times: UptimeTimes, at: Interval): UptimeLine {
  const { length, from, to } = at;
  return { kind: "monitor", id, name, page: null, from, to, ...figuresOfStates(times, length) };
}

const NO_TIME: Folded["time"] = addStatusTimes([]);
const NO_STATES: UptimeTimes = addTimes([]);

/** Returns the figures of status times in a time of `length` ms. */
export function figuresOfTime(time: Folded["time"], length: number): UptimeFigures {
  const counted = countedTime(time);
  return {
    uptime: uptimeOfTime(time),
    counted_ms: counted,
    // Rounded to tenths, which partial outages are counted in.
    down_ms: Math.round(downTime(time) * 10) / 10,
    degraded_ms: time.degraded_performance,
    partial_outage_ms: time.partial_outage,
    major_outage_ms: time.major_outage,
    maintenance_ms: time.under_maintenance,
    no_data_ms: length - counted - time.under_maintenance,
  };
}

function figuresOfStates(times: UptimeTimes, length: number): UptimeFigures {
  const counted = knownTime(times);
  return {
    uptime: uptimeOf(times),
    counted_ms: counted,
    down_ms: times.down,
    degraded_ms: times.degraded,
    partial_outage_ms: null,
    major_outage_ms: null,
    maintenance_ms: times.maintenance,
    no_data_ms: length - counted - times.maintenance,
  };
}

/** Maximum number of monitors, since all results of the last hour are read one by one. */
const MONITORS_MAX = 20;

/**
 * Returns the response times of the subject's monitors by interval, each and all together, from one location (an id) or
 * from all. Throws `invalid_request` for more lines than an answer may have, and for more than 20 monitors.
 */
export function latencyAnswer(
  reader: Reader,
  subject: Subject,
  period: Period,
  location?: string,
): LatencyAnswer {
  const monitors = monitorsOf(reader, subject);
  if (monitors.length > MONITORS_MAX) {
    throw invalidParameter(
      "monitor",
      `is required, because there are more than ${MONITORS_MAX} monitors`,
    );
  }
  requireLines(monitors.length, period);
  const { spans } = period;
  const nums = monitors.map(({ num }) => num);
  const { each, total } = latencyOfEach(reader, nums, spans, location);
  const data = monitors.flatMap(({ id, name }, i) =>
    (each[i] ?? []).map((figures, j) => ({
      id,
      name,
      ...lineOf(spans[j] ?? period),
      ...presentLatency(figures),
    })),
  );
  return { ...headOf(period, METHODS.latency), total: presentLatency(total), data };
}

function presentLatency(figures: LatencyFigures): LatencyAnswer["total"] {
  const { checks, failures, count } = figures;
  return {
    checks,
    failures,
    count,
    avg_ms: figures.avgMs,
    min_ms: figures.minMs,
    max_ms: figures.maxMs,
    p50_ms: figures.p50Ms,
    p90_ms: figures.p90Ms,
    p95_ms: figures.p95Ms,
    p99_ms: figures.p99Ms,
  };
}

type Counted = ReturnType<typeof countIncidents>[number];

/**
 * Returns figures of published incidents that started within each interval and in the whole period:
 * of the subject's page, of those that ever named its component, or of those that its monitor
 * opened. An open incident counts until `now`.
 */
export function incidentsAnswer(
  reader: Reader,
  { page, component, monitor }: Subject,
  period: Period,
  now: number,
): IncidentsAnswer {
  const { from, to, interval, spans } = period;
  const counted = countIncidents(reader, {
    pageId: page?.id ?? null,
    componentId: component?.id ?? null,
    monitorId: monitor?.id ?? null,
    from,
    to,
    unit: unitOf(interval),
    now,
  });
  const byNumber = Map.groupBy(counted, ({ at }) => numberOf(at, interval));
  const data = spans.map((span) => ({
    ...lineOf(span),
    ...incidentFiguresOf(byNumber.get(numberOf(span.from, interval)) ?? []),
  }));
  return { ...headOf(period, METHODS.incidents), total: incidentFiguresOf(counted), data };
}

function incidentFiguresOf(parts: readonly Counted[]): IncidentFigures {
  const sum = (of: (part: Counted) => number | null) =>
    parts.reduce((total, part) => total + (of(part) ?? 0), 0);
  const mean = (total: number, count: number) => (count === 0 ? null : Math.round(total / count));
  const identified = sum((part) => part.identified);
  const resolved = sum((part) => part.resolved);
  const longest = parts.toSorted((a, b) => b.longest - a.longest)[0];
  return {
    count: sum((part) => part.count),
    none: sum((part) => part.none),
    minor: sum((part) => part.minor),
    major: sum((part) => part.major),
    critical: sum((part) => part.critical),
    identified,
    time_to_identify_ms: mean(
      sum((part) => part.identifySum),
      identified,
    ),
    resolved,
    time_to_resolve_ms: mean(
      sum((part) => part.resolveSum),
      resolved,
    ),
    longest_ms: longest?.longest ?? null,
    longest_id: longest?.longestId ?? null,
  };
}

interface RequestsInput extends PeriodInput {
  /** Id of a key; all keys if omitted. */
  key?: string | undefined;
}

interface Counts {
  ok: number;
  clientError: number;
  limited: number;
}

/**
 * Returns the responses to each key's requests by interval, each key and all together. Counts are
 * hourly, so the period is widened to whole hours. Throws `invalid_request`.
 */
export function requestsAnswer(reader: Reader, input: RequestsInput, now: number): RequestsAnswer {
  const period = readPeriod(input, now);
  const from = Math.floor(period.from / HOUR_MS) * HOUR_MS;
  const to = Math.min(now, Math.ceil(period.to / HOUR_MS) * HOUR_MS);
  const hours = readPeriod({ ...input, from: toIso(from), to: toIso(to) }, now);
  const keys = listKeys(reader, { id: input.key ?? null, limit: LINES_MAX + 1 });
  if (input.key !== undefined && keys.length === 0) throw invalidParameter("key", "names no key");
  requireLines(keys.length, hours);
  const { interval, spans } = hours;
  const keyIds = JSON.stringify(keys.map(({ id }) => id));
  const counted = countRequests(reader, { keyIds, from, to, unit: unitOf(interval) });
  const bucketOf = (keyId: string, at: number) => `${keyId} ${numberOf(at, interval)}`;
  const byBucket = Map.groupBy(counted, ({ keyId, at }) => bucketOf(keyId, at));
  const data = keys.flatMap(({ id, name, lastUsedAt }) =>
    spans.map((span) => ({
      id,
      name,
      ...lineOf(span),
      ...requestFiguresOf(byBucket.get(bucketOf(id, span.from)) ?? []),
      last_used_at: toIsoOrNull(lastUsedAt),
    })),
  );
  return { ...headOf(hours, METHODS.requests), total: requestFiguresOf(counted), data };
}

function requestFiguresOf(parts: readonly Counts[]): RequestFigures {
  const sum = (of: keyof Counts) => parts.reduce((total, part) => total + part[of], 0);
  const [ok, clientError, limited] = [sum("ok"), sum("clientError"), sum("limited")];
  return { total: ok + clientError + limited, ok, client_error: clientError, limited };
}

/** Uptime of components together. */
export interface TotalUptime {
  /** Share of the known time without maintenance; null without such time. */
  uptime: number | null;
  /** Time that counts as down, of all components, in ms. */
  downMs: number;
}

/**
 * Returns the uptime of at most `limit` components together in a span of unix ms, by the method of
 * `uptimeAnswer`. Large installations are read in several turns of the event loop.
 */
export async function totalUptime(reader: Reader, span: Span, limit: number): Promise<TotalUptime> {
  const rows = listComponents(reader, { limit }).map(({ component }) => component);
  return uptimeTogether(reader, rows, span);
}

/** Returns the uptime of components together in a span of unix ms. */
export async function uptimeTogether(
  reader: Reader,
  rows: readonly ComponentRow[],
  { from, to }: Span,
): Promise<TotalUptime> {
  const folded = await foldInTurns(reader, rows, { from, to, spans: [{ from, to }] });
  const time = addStatusTimes(folded.flat().map((each) => each.time));
  return { uptime: uptimeOfTime(time), downMs: downTime(time) };
}

/** Days or other spans of components that are folded in one turn of the event loop. */
const SPANS_PER_TURN = 3_000;

/** Components whose causes are read in one turn of the event loop. */
const COMPONENTS_PER_TURN = 100;

/** Start and end of a period with its spans. */
type Spans = Pick<Period, "from" | "to" | "spans">;

/** Returns the folded spans of each component, in the order of `rows`. */
export function foldComponents(
  reader: Reader,
  rows: readonly ComponentRow[],
  { from, to, spans }: Spans,
): Folded[][] {
  const query = { componentIds: JSON.stringify(rows.map(({ id }) => id)), from, to };
  const causes = Map.groupBy(listCauses(reader, query), ({ componentId }) => componentId);
  const gaps = Map.groupBy(listNoData(reader, query), ({ componentId }) => componentId);
  return rows.map((row) => {
    const known = { from: Math.max(from, knownFrom(row)), to };
    return foldSpans(causes.get(row.id) ?? [], known, spans, gaps.get(row.id));
  });
}

/** Returns the same as `foldComponents`, in several turns of the event loop for many components. */
export async function foldInTurns(
  reader: Reader,
  rows: readonly ComponentRow[],
  period: Spans,
): Promise<Folded[][]> {
  const most = Math.floor(SPANS_PER_TURN / Math.max(1, period.spans.length));
  const perTurn = Math.max(1, Math.min(COMPONENTS_PER_TURN, most));
  return inTurns(rows, perTurn, (part) => foldComponents(reader, part, period));
}

/**
 * Returns the results of `read` for all items, read for `perTurn` of them at a time. Other requests are
 * served between two turns.
 */
async function inTurns<Item, Result>(
  items: readonly Item[],
  perTurn: number,
  read: (part: readonly Item[]) => readonly Result[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < items.length; first += perTurn) {
    // oxlint-disable-next-line no-await-in-loop
    if (first > 0) await new Promise(setImmediate);
    for (const result of read(items.slice(first, first + perTurn))) results.push(result);
  }
  return results;
}

/** Returns the fields that every answer starts with. */
function headOf({ from, to, interval }: Period, method: string) {
  return { from: toIso(from), to: toIso(to), interval, method };
}

/** Interval of lines: start and end as text, and its length in ms. */
interface Interval extends ReturnType<typeof lineOf> {
  length: number;
}

function intervalOf(span: Span): Interval {
  return { ...lineOf(span), length: span.to - span.from };
}

/** Returns the interval of a line. */
function lineOf({ from, to }: Span) {
  return { from: toIso(from), to: toIso(to) };
}
