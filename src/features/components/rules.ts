import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  worstStatus,
} from "../../kernel/component-status";
import { DAY_MS, parseDay, startOfDay } from "../../kernel/time";

/** An interval in which something marked a component. Times in unix ms; an open one has no end. */
export interface CauseInterval {
  status: ComponentStatus;
  startedAt: number;
  endedAt: number | null;
}

/** A span of time, its end not included. Unix ms. */
export interface Span {
  from: number;
  to: number;
}

/** What a component shows: the worst of its baseline and of every open cause. */
export function effectiveStatus(
  baseline: ComponentStatus,
  openCauses: Iterable<{ status: ComponentStatus }>,
): ComponentStatus {
  const statuses = [baseline];
  for (const cause of openCauses) statuses.push(cause.status);
  return worstStatus(statuses);
}

/**
 * For how many milliseconds of a span each status was the worst; the rest was operational. One sweep
 * over the edges of the causes, so that a component that flaps all day is folded quickly, too.
 */
export function timeByStatus(
  causes: readonly CauseInterval[],
  span: Span,
): Record<ComponentStatus, number> {
  const total = noneOfEach();
  const open = noneOfEach();
  let at = span.from;
  for (const edge of edgesOf(causes, span)) {
    total[worstOf(open)] += edge.at - at;
    at = edge.at;
    open[edge.status] += edge.change;
  }
  total[worstOf(open)] += Math.max(0, span.to - at);
  return total;
}

/** Where causes begin (+1) and end (−1) within a span, in the order of time. */
function edgesOf(causes: readonly CauseInterval[], span: Span) {
  return causes
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

function worstOf(open: Record<ComponentStatus, number>): ComponentStatus {
  return COMPONENT_STATUSES.findLast((status) => open[status] > 0) ?? "operational";
}

/**
 * The share of a span in which a component was up: 1 − (major + 0.3 × partial) ÷ (known − maintenance),
 * in time. Degraded counts as up. Null where nothing is known. Rounded down to six decimals, so that
 * no outage rounds away.
 */
export function uptime(causes: readonly CauseInterval[], known: Span): number | null {
  return shareUp(timeByStatus(causes, known), known.to - known.from);
}

/** The same for some days together, of one component or of several. */
export function uptimeOfDays(days: Iterable<DayOf>): number | null {
  const total = noneOfEach();
  let known = 0;
  for (const day of days) {
    known += day.known;
    for (const status of COMPONENT_STATUSES) total[status] += day.time[status];
  }
  return shareUp(total, known);
}

function shareUp(time: Readonly<Record<ComponentStatus, number>>, known: number): number | null {
  const counted = known - time.under_maintenance;
  if (counted <= 0) return null;
  const down = time.major_outage + 0.3 * time.partial_outage;
  return Math.floor((1 - down / counted) * 1e6) / 1e6;
}

/**
 * The part of the last `days` UTC days, today included, for which a component is known: from its
 * creation, or from its start date where it has one.
 */
export function knownSpan(
  component: { createdAt: number; startDate: string | null },
  now: number,
  days: number,
): Span {
  const windowStart = startOfDay(now) - (days - 1) * DAY_MS;
  const startDate = component.startDate === null ? undefined : parseDay(component.startDate);
  return { from: Math.max(windowStart, startDate ?? component.createdAt), to: now };
}

/** One UTC day of a component's history. */
export interface DayOf {
  /** Its first millisecond, unix ms. */
  start: number;
  /** For how many milliseconds of it the component is known; the rest has no data. */
  known: number;
  /** For how many of these each status was the worst. They add up to `known`. */
  time: Readonly<Record<ComponentStatus, number>>;
}

/**
 * The last `days` UTC days up to the one that `known` ends in, oldest first. Only days that a cause
 * touches are computed, so that a quiet history costs next to nothing.
 */
export function foldDays(causes: readonly CauseInterval[], known: Span, days: number): DayOf[] {
  const first = startOfDay(known.to) - (days - 1) * DAY_MS;
  const touching = causesByDay(causes, { from: Math.max(first, known.from), to: known.to });
  const quiet = { ...noneOfEach(), operational: DAY_MS };
  return Array.from({ length: days }, (_, i) => {
    const start = first + i * DAY_MS;
    const from = Math.max(start, known.from);
    const span = { from, to: Math.max(from, Math.min(start + DAY_MS, known.to)) };
    const length = span.to - span.from;
    const own = touching.get(start);
    if (own) return { start, known: length, time: timeByStatus(own, span) };
    const isWhole = length === DAY_MS;
    return { start, known: length, time: isWhole ? quiet : { ...quiet, operational: length } };
  });
}

/** The causes that lie in each day of a span, by the day's first millisecond. */
function causesByDay(causes: readonly CauseInterval[], span: Span): Map<number, CauseInterval[]> {
  const byDay = new Map<number, CauseInterval[]>();
  for (const cause of causes) {
    const from = Math.max(cause.startedAt, span.from);
    const to = Math.min(cause.endedAt ?? span.to, span.to);
    for (let day = startOfDay(from); day < to; day += DAY_MS) {
      const own = byDay.get(day);
      if (own) own.push(cause);
      else byDay.set(day, [cause]);
    }
  }
  return byDay;
}
