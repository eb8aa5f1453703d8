import { type ComponentStatus, worstStatus } from "../../base/status";
import { DAY_MS, parseDay, startOfDay } from "../../base/time";
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

/** Returns the time that counts as down, in ms: a partial outage counts three tenths. */
export function downTime(time: StatusTimes): number {
  return time.major_outage + 0.3 * time.partial_outage;
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
