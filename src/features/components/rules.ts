import { type ComponentStatus, worstStatus } from "../../kernel/component-status";
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

/** For how many milliseconds of a span each status was the worst; the rest was operational. */
export function timeByStatus(
  causes: readonly CauseInterval[],
  span: Span,
): Record<ComponentStatus, number> {
  const total: Record<ComponentStatus, number> = {
    operational: 0,
    under_maintenance: 0,
    degraded_performance: 0,
    partial_outage: 0,
    major_outage: 0,
  };
  if (span.to <= span.from) return total;
  const within = causes
    .map((cause) => ({
      status: cause.status,
      from: Math.max(cause.startedAt, span.from),
      to: Math.min(cause.endedAt ?? span.to, span.to),
    }))
    .filter((cause) => cause.to > cause.from);
  const edges = [...new Set([span.from, span.to, ...within.flatMap((c) => [c.from, c.to])])].sort(
    (a, b) => a - b,
  );
  for (const [index, from] of edges.entries()) {
    const to = edges[index + 1];
    if (to === undefined) break;
    const open = within.filter((cause) => cause.from <= from && cause.to >= to);
    total[worstStatus(open.map((cause) => cause.status))] += to - from;
  }
  return total;
}

/**
 * The share of a span in which a component was up: 1 − (major + 0.3 × partial) ÷ (known − maintenance),
 * in time. Degraded counts as up. Null where nothing is known. Rounded down to six decimals, so that
 * no outage rounds away.
 */
export function uptime(causes: readonly CauseInterval[], known: Span): number | null {
  const time = timeByStatus(causes, known);
  const counted = known.to - known.from - time.under_maintenance;
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
