/*
 * What a component's history adds up to: the times in which something marked it, and those in which
 * nothing was known of it, folded into spans. Pure; times are unix ms.
 */
import { COMPONENT_STATUSES, type ComponentStatus } from "../../domain/component-status";
import { DAY_MS, startOfDay } from "../../kernel/time";

/** From when to when something was so; what still is has no end. */
export interface Interval {
  startedAt: number;
  endedAt: number | null;
}

/** An interval in which something marked a component. */
export interface CauseInterval extends Interval {
  status: ComponentStatus;
}

/** A span of time, its end not included. */
export interface Span {
  from: number;
  to: number;
}

/** For how many milliseconds each status was shown. */
export type StatusTimes = Readonly<Record<ComponentStatus, number>>;

/** Summary of a span of a component's history. */
export interface Folded {
  /** Time with data, in ms. */
  known: number;
  /** For how many nothing was known, though the component was there. */
  noData: number;
  /** For how many of the known ones each status was the worst. They add up to `known`. */
  time: StatusTimes;
}

/** One UTC day of a component's history. */
export interface DayOf extends Folded {
  /** Its first millisecond. */
  start: number;
}

/** A span of which the same is true throughout: its status, or null where nothing was known. */
interface Stretch extends Span {
  status: ComponentStatus | null;
}

const STATUSES_WORST_FIRST = COMPONENT_STATUSES.toReversed();

/**
 * For how many milliseconds of a span each status was the worst; the rest was operational, but for the
 * times in which nothing was known: these count as no status, whatever marked the component meanwhile.
 */
export function timeByStatus(
  causes: readonly CauseInterval[],
  span: Span,
  unknown: readonly Interval[] = [],
): StatusTimes {
  return add(stretchesOf(causes, span, unknown)).time;
}

/** The last `days` UTC days up to the one that `known` ends in, oldest first. */
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
 * Spans that follow one another without gaps, oldest first, as far as they lie in `known`. One walk over
 * them and over what happened; those that were wholly operational and equally long share their `time`, so
 * that a quiet history costs next to nothing.
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
  const quiet = new Map<number, Folded>();
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
    const [only] = own;
    if (own.length > 1 || (only && only.status !== "operational")) return add(own);
    const length = only ? only.to - only.from : 0;
    const folded = quiet.get(length) ?? add(own);
    quiet.set(length, folded);
    return folded;
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
 * A span as stretches that follow one another without gaps, no two neighbours alike. One sweep over the
 * edges of all that happened, so that a component that flaps all day is folded quickly, too.
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
