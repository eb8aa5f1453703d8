import { type ComponentStatus, worstStatus } from "../../domain/component-status";
import { DAY_MS, parseDay, startOfDay } from "../../kernel/time";
import {
  addTimes,
  type CauseInterval,
  type Interval,
  type Span,
  type StatusTimes,
  timeByStatus,
} from "./history";

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
 * The share of a span in which a component was up: 1 − (major + 0.3 × partial) ÷ (known − maintenance),
 * in time. Degraded counts as up, and what nothing was known of leaves the known time. Null where nothing
 * is known. Rounded down to six decimals, so that no outage rounds away.
 */
export function uptime(
  causes: readonly CauseInterval[],
  known: Span,
  unknown: readonly Interval[] = [],
): number | null {
  return uptimeOfTime(timeByStatus(causes, known, unknown));
}

/** The same for some days together, of one component or of several. */
export function uptimeOfDays(days: Iterable<{ time: StatusTimes }>): number | null {
  return uptimeOfTime(addTimes([...days].map(({ time }) => time)));
}

/** The same from how long each status was shown. */
export function uptimeOfTime(time: StatusTimes): number | null {
  const counted = countedTime(time);
  if (counted === 0) return null;
  const millionths = ((counted - downTime(time)) * 1e6) / counted;
  // Three tenths have no exact binary form; what that is off by is far less than any outage is.
  return Math.floor(millionths + 1e-9) / 1e6;
}

/** Returns the time that uptime is a share of, in ms: the known time without maintenance. */
export function countedTime(time: StatusTimes): number {
  const { operational, degraded_performance, partial_outage, major_outage } = time;
  return operational + degraded_performance + partial_outage + major_outage;
}

/** Returns the time that counts as down, in ms: a partial outage counts three tenths. */
export function downTime(time: StatusTimes): number {
  return time.major_outage + 0.3 * time.partial_outage;
}

/** Since when a component is known: its start date where it has one, else its creation. Unix ms. */
export function knownFrom(component: { createdAt: number; startDate: string | null }): number {
  const startDate = component.startDate === null ? undefined : parseDay(component.startDate);
  return startDate ?? component.createdAt;
}

/** The part of the last `days` UTC days, today included, for which a component is known. */
export function knownSpan(
  component: { createdAt: number; startDate: string | null },
  now: number,
  days: number,
): Span {
  const windowStart = startOfDay(now) - (days - 1) * DAY_MS;
  return { from: Math.max(windowStart, knownFrom(component)), to: now };
}
