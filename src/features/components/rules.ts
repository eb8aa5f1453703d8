/*
 * Computes a component's status, uptime, days and spans from its causes and its times without data. Pure; times are
 * unix ms.
 */
import { COMPONENT_STATUSES, type ComponentStatus, worstStatus } from "../../base/status";
import { DAY_MS, parseDay, startOfDay } from "../../base/time";

/** A period; open without an end. */
export interface Interval {
  startedAt: number;
  endedAt: number | null;
}

/** Period of a cause. */
export interface CauseInterval extends Interval {
  status: ComponentStatus;
}

/** A span of time, end exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** Duration of each status, in ms. */
type StatusTimes = Readonly<Record<ComponentStatus, number>>;

/** Summary of a span of a component's history. */
export interface Folded {
  /** Time with data, in ms. */
  known: number;
  /** Time without data in which the component existed, in ms. */
  noData: number;
  /** Known time in ms by worst status. The values add up to `known`. */
  time: StatusTimes;
}

/** One UTC day of a component's history. */
export interface DayOf extends Folded {
  /** Its first millisecond. */
  start: number;
}

/** Returns the status of a component: the worst of its manual status and every open cause. */
export function effectiveStatus(
  baseline: ComponentStatus,
  openCauses: Iterable<{ status: ComponentStatus }>,
): ComponentStatus {
  const statuses = [baseline];
  for (const cause of openCauses) statuses.push(cause.status);
  return worstStatus(statuses);
}

/**
 * Returns the share of time in which a component was up: 1 − (major + 0.3 × partial) ÷ (known −
 * maintenance). Degraded counts as up, time without data is not counted. Null without known time.
 * Rounded down to six decimals, so that no outage is lost by rounding.
 */
export function uptime(
  causes: readonly CauseInterval[],
  known: Span,
  unknown: readonly Interval[] = [],
): number | null {
  return uptimeOfTime(timeByStatus(causes, known, unknown));
}

/** Returns the uptime of several days, of one or more components. */
export function uptimeOfDays(days: Iterable<{ time: StatusTimes }>): number | null {
  return uptimeOfTime(addTimes([...days].map(({ time }) => time)));
}

/** Returns the uptime of status times. */
export function uptimeOfTime(time: StatusTimes): number | null {
  const counted = countedTime(time);
  if (counted === 0) return null;
  const millionths = ((counted - downTime(time)) * 1e6) / counted;
  // Offsets the rounding error of 0.3, which is far smaller than any outage.
  return Math.floor(millionths + 1e-9) / 1e6;
}

/** Returns the time that uptime is a share of, in ms: the known time without maintenance. */
export function countedTime(time: StatusTimes): number {
  const { operational, degraded_performance, partial_outage, major_outage } = time;
  return operational + degraded_performance + partial_outage + major_outage;
}

/** Share of the time in a partial outage that counts as down. */
export const PARTIAL_FACTOR = 0.3;

/** Returns the time that counts as down, in ms. */
export function downTime(time: StatusTimes): number {
  return time.major_outage + PARTIAL_FACTOR * time.partial_outage;
}

/**
 * Returns the time from which a component is known: its start date if it has one, else its
 * creation. Unix ms.
 */
export function knownFrom(component: { createdAt: number; startDate: string | null }): number {
  const startDate = component.startDate === null ? undefined : parseDay(component.startDate);
  return startDate ?? component.createdAt;
}

/** Returns the part of the last `days` UTC days, including today, in which a component is known. */
export function knownSpan(
  component: { createdAt: number; startDate: string | null },
  now: number,
  days: number,
): Span {
  const windowStart = startOfDay(now) - (days - 1) * DAY_MS;
  return { from: Math.max(windowStart, knownFrom(component)), to: now };
}

/** A span with one status throughout; null without data. */
interface Stretch extends Span {
  status: ComponentStatus | null;
}

const STATUSES_WORST_FIRST = COMPONENT_STATUSES.toReversed();

/**
 * Returns the time in ms for which each status was the worst in a span. Time without causes is
 * operational; time without data has no status.
 */
export function timeByStatus(
  causes: readonly CauseInterval[],
  span: Span,
  unknown: readonly Interval[] = [],
): StatusTimes {
  return add(stretchesOf(causes, span, unknown)).time;
}

/** Returns the last `days` UTC days up to the end of `known`, oldest first. */
export function foldDays(
  causes: readonly CauseInterval[],
  known: Span,
  days: number,
  unknown: readonly Interval[] = [],
): DayOf[] {
  const first = startOfDay(known.to) - (days - 1) * DAY_MS;
  const spans = Array.from({ length: days }, (_, i) => {
    const from = first + i * DAY_MS;
    return { from, to: from + DAY_MS };
  });
  return foldSpans(causes, known, spans, unknown).map((folded, i) => ({
    start: first + i * DAY_MS,
    ...folded,
  }));
}

/**
 * Folds consecutive spans, oldest first, as far as they lie in `known`, in one pass over spans and
 * causes.
 */
export function foldSpans(
  causes: readonly CauseInterval[],
  known: Span,
  spans: readonly Span[],
  unknown: readonly Interval[] = [],
): Folded[] {
  const from = Math.max(known.from, spans[0]?.from ?? known.from);
  const to = Math.min(known.to, spans.at(-1)?.to ?? known.to);
  const stretches = stretchesOf(causes, { from, to }, unknown);
  let first = 0;
  return spans.map((span) => {
    while ((stretches[first]?.to ?? Number.POSITIVE_INFINITY) <= span.from) first += 1;
    const own: Stretch[] = [];
    for (let i = first; i < stretches.length; i++) {
      const stretch = stretches[i];
      if (!stretch || stretch.from >= span.to) break;
      const [start, end] = [Math.max(stretch.from, span.from), Math.min(stretch.to, span.to)];
      own.push({ from: start, to: end, status: stretch.status });
    }
    return add(own);
  });
}

/** Adds up the times of each status over several spans. */
export function addTimes(times: Iterable<StatusTimes>): StatusTimes {
  const total = noneOfEach();
  for (const time of times) {
    for (const status of COMPONENT_STATUSES) total[status] += time[status];
  }
  return total;
}

function add(stretches: readonly Stretch[]): Folded {
  const time = noneOfEach();
  let [known, noData] = [0, 0];
  for (const { status, from, to } of stretches) {
    if (status === null) {
      noData += to - from;
    } else {
      known += to - from;
      time[status] += to - from;
    }
  }
  return { known, noData, time };
}

/**
 * Divides a span into consecutive stretches of different statuses. One pass over the edges of all
 * intervals keeps this fast for components that change often.
 */
function stretchesOf(
  causes: readonly CauseInterval[],
  span: Span,
  unknown: readonly Interval[],
): Stretch[] {
  const stretches: Stretch[] = [];
  const open = noneOfEach();
  let gaps = 0;
  let from = span.from;
  function reach(to: number): void {
    if (to <= from) return;
    const status = gaps > 0 ? null : worstOf(open);
    const last = stretches.at(-1);
    if (last?.status === status) last.to = to;
    else stretches.push({ from, to, status });
    from = to;
  }
  for (const { at, status, change } of edgesOf(causes, unknown, span)) {
    reach(at);
    if (status === null) gaps += change;
    else open[status] += change;
  }
  reach(span.to);
  return stretches;
}

/**
 * Returns the starts (+1) and ends (−1) of causes and of times without data, in the order of time.
 */
function edgesOf(causes: readonly CauseInterval[], unknown: readonly Interval[], span: Span) {
  const gaps = unknown.map((interval) => ({ ...interval, status: null }));
  return [...causes, ...gaps]
    .map(({ status, startedAt, endedAt }) => ({
      status,
      from: Math.max(startedAt, span.from),
      to: Math.min(endedAt ?? span.to, span.to),
    }))
    .filter(({ from, to }) => to > from)
    .flatMap(({ status, from, to }) => [
      { at: from, status, change: 1 },
      { at: to, status, change: -1 },
    ])
    .sort((a, b) => a.at - b.at);
}

function noneOfEach(): Record<ComponentStatus, number> {
  return {
    operational: 0,
    under_maintenance: 0,
    degraded_performance: 0,
    partial_outage: 0,
    major_outage: 0,
  };
}

function worstOf(open: StatusTimes): ComponentStatus {
  return STATUSES_WORST_FIRST.find((status) => open[status] > 0) ?? "operational";
}
