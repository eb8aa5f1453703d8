/*
 * What the timeline of a monitor's states adds up to. Pure: time is an argument, in unix ms. A span
 * without an end goes on; a timeline has no overlaps and is given oldest first.
 */
import { MONITOR_STATES, type MonitorState } from "../../domain/monitor-state";
import type { Span } from "../components";

/** A span of a monitor's timeline. */
export interface StateSpan {
  state: MonitorState;
  startedAt: number;
  endedAt: number | null;
  message: string | null;
}

/** For how many milliseconds each state lasted. */
export type StateTimes = Readonly<Record<MonitorState, number>>;

/** A time in which a monitor was down. */
export interface Outage {
  startedAt: number;
  /** Null while it goes on. */
  endedAt: number | null;
  /** From its beginning to its end, or so far. */
  durationMs: number;
  message: string | null;
}

/** For how long a monitor was in each state within a span; what lies before its first has none. */
export function timesByState(spans: readonly StateSpan[], within: Span): StateTimes {
  const [times] = timesByInterval(spans, [within]);
  return times ?? noTimes();
}

/**
 * The same for intervals that follow one another, oldest first: one walk over both, however many there
 * are of each.
 */
export function timesByInterval(
  spans: readonly StateSpan[],
  intervals: readonly Span[],
): StateTimes[] {
  let first = 0;
  return intervals.map(({ from, to }) => {
    const times = noTimes();
    while (first < spans.length && endOf(spans[first]) <= from) first += 1;
    for (let i = first; i < spans.length; i++) {
      const span = spans[i];
      if (!span || span.startedAt >= to) break;
      times[span.state] += Math.max(0, Math.min(endOf(span), to) - Math.max(span.startedAt, from));
    }
    return times;
  });
}

/** The times of several monitors, or of several intervals, together. */
export function addTimes(all: Iterable<StateTimes>): StateTimes {
  const total = noTimes();
  for (const times of all) for (const state of MONITOR_STATES) total[state] += times[state];
  return total;
}

/** For how long it was known whether a monitor was up. */
export function knownTime(times: StateTimes): number {
  return times.up + times.degraded + times.down;
}

/**
 * A monitor's uptime: 1 − down ÷ (up + degraded + down), in time. Null where nothing is known. Rounded
 * down to six decimals, so that no outage rounds away.
 */
export function uptimeOf(times: StateTimes): number | null {
  const known = knownTime(times);
  return known === 0 ? null : Math.floor(((known - times.down) * 1e6) / known) / 1e6;
}

/**
 * The outages that lie in a span, or reach into it, oldest first and with their own beginnings and ends.
 * `now` is what one that goes on is reckoned to.
 */
export function outagesOf(spans: readonly StateSpan[], within: Span, now: number): Outage[] {
  const outages: Outage[] = [];
  for (const { startedAt, endedAt, message } of joined(spans)) {
    if (startedAt >= within.to || (endedAt ?? now) <= within.from) continue;
    const durationMs = Math.max(0, (endedAt ?? now) - startedAt);
    outages.push({ startedAt, endedAt, durationMs, message });
  }
  return outages;
}

/** The spans in which it was down; two that touch are one, as a clock that was set back leaves them. */
function joined(spans: readonly StateSpan[]): StateSpan[] {
  const down: StateSpan[] = [];
  for (const span of spans) {
    if (span.state !== "down") continue;
    const before = down.at(-1);
    if (before?.endedAt === span.startedAt)
      down[down.length - 1] = { ...before, endedAt: span.endedAt };
    else down.push(span);
  }
  return down;
}

function endOf(span: StateSpan | undefined): number {
  return span?.endedAt ?? Number.POSITIVE_INFINITY;
}

function noTimes(): Record<MonitorState, number> {
  return { pending: 0, up: 0, degraded: 0, down: 0, maintenance: 0, paused: 0, no_data: 0 };
}
