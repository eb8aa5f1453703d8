/*
 * Times by state, uptime and outages of a monitor's timeline. Pure: time is an argument, in unix
 * ms. An open span continues; a timeline has no overlaps and is passed oldest first.
 */
import type { Span } from "../components/rules";
import { MONITOR_STATES, type MonitorState } from "../../base/status";

/** A span of a monitor's timeline. */
export interface StateSpan {
  state: MonitorState;
  startedAt: number;
  endedAt: number | null;
  message: string | null;
}

/** Duration of each state, in ms. */
export type StateTimes = Readonly<Record<MonitorState, number>>;

/** Duration of the states that figures of uptime name, in ms. */
export type UptimeTimes = Pick<StateTimes, "up" | "degraded" | "down" | "maintenance">;

/** Time in which a monitor was down, slow or unreachable. */
export interface Trouble {
  state: "down" | "degraded" | "unreachable";
  startedAt: number;
  /** Null while it continues. */
  endedAt: number | null;
  /** Duration so far, if it continues. */
  durationMs: number;
  message: string | null;
}

/** Returns the time in each state within a span; the time before the first span has no state. */
export function timesByState(spans: readonly StateSpan[], within: Span): StateTimes {
  const [times] = timesByInterval(spans, [within]);
  return times ?? noTimes();
}

/** Returns the time in each state for consecutive intervals, oldest first, in one pass. */
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

/** Returns the sum of the times of several monitors or intervals. */
export function addTimes(all: Iterable<StateTimes>): StateTimes {
  const total = noTimes();
  for (const times of all) for (const state of MONITOR_STATES) total[state] += times[state];
  return total;
}

/**
 * Returns the time in which the monitor was known to be up, degraded or down. Of a time in which it was
 * unreachable through another monitor, its own state is not known.
 */
export function knownTime(times: UptimeTimes): number {
  return times.up + times.degraded + times.down;
}

/**
 * Returns a monitor's uptime by time: 1 − down ÷ (up + degraded + down); null without known time.
 * Rounded down to six decimals, so that no outage is lost by rounding.
 */
export function uptimeOf(times: UptimeTimes): number | null {
  const known = knownTime(times);
  return known === 0 ? null : Math.floor(((known - times.down) * 1e6) / known) / 1e6;
}

/**
 * Returns the outages, slow and unreachable times that overlap a span, uncut, oldest first. The
 * duration of one that continues ends at `now`.
 */
export function troublesOf(spans: readonly StateSpan[], within: Span, now: number): Trouble[] {
  return joined(spans).flatMap(({ state, startedAt, endedAt, message }) => {
    if (startedAt >= within.to || (endedAt ?? now) <= within.from) return [];
    const durationMs = Math.max(0, (endedAt ?? now) - startedAt);
    return [{ state, startedAt, endedAt, durationMs, message }];
  });
}

type TroubleSpan = StateSpan & Pick<Trouble, "state">;

/**
 * Returns the spans in which the monitor was down, slow or unreachable. Joins adjacent spans of one
 * state, which exist if the clock was set back, or if an outage went on after an unreachable time.
 */
function joined(spans: readonly StateSpan[]): TroubleSpan[] {
  const troubles: TroubleSpan[] = [];
  for (const span of spans) {
    const { state } = span;
    if (state !== "down" && state !== "degraded" && state !== "unreachable") continue;
    const before = troubles.at(-1);
    if (before?.endedAt === span.startedAt && before.state === state)
      troubles[troubles.length - 1] = { ...before, endedAt: span.endedAt };
    else troubles.push({ ...span, state });
  }
  return troubles;
}

function endOf(span: StateSpan | undefined): number {
  return span?.endedAt ?? Number.POSITIVE_INFINITY;
}

/** Returns zero time for each state. */
export function noTimes(): Record<MonitorState, number> {
  return {
    pending: 0,
    up: 0,
    degraded: 0,
    down: 0,
    maintenance: 0,
    paused: 0,
    no_data: 0,
    unreachable: 0,
  };
}
