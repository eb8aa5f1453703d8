import type { Span } from "../../features/components";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../kernel/time";

/** Selectable ranges of a monitor's history, and the length of one chart point. */
const RANGES = {
  "24h": { label: "24 hours", lengthMs: DAY_MS, stepMs: 30 * MINUTE_MS },
  "7d": { label: "7 days", lengthMs: 7 * DAY_MS, stepMs: 2 * HOUR_MS },
  "30d": { label: "30 days", lengthMs: 30 * DAY_MS, stepMs: 12 * HOUR_MS },
  "90d": { label: "90 days", lengthMs: 90 * DAY_MS, stepMs: DAY_MS },
} as const;

export type RangeName = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[];

export interface Range {
  name: RangeName;
  label: string;
  /** Start and end in unix ms; the end is now. */
  span: Span;
  /** Periods of the chart points, aligned to UTC. The last one is incomplete. */
  steps: readonly Span[];
}

export function rangeLabel(name: RangeName): string {
  return RANGES[name].label;
}

/** Returns the named range up to `now`; the last 24 hours for an unknown name. */
export function readRange(asked: string | undefined, now: number): Range {
  const name = RANGE_NAMES.find((each) => each === asked) ?? "24h";
  const { label, lengthMs, stepMs } = RANGES[name];
  const count = lengthMs / stepMs;
  const last = Math.floor((now - 1) / stepMs) * stepMs;
  const steps = Array.from({ length: count }, (_, index) => {
    const from = last - (count - 1 - index) * stepMs;
    return { from, to: Math.min(now, from + stepMs) };
  });
  return { name, label, span: { from: now - lengthMs, to: now }, steps };
}
