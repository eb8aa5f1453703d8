import { DAY_MS, HOUR_MS, MINUTE_MS, parseInstant, toIso } from "../../../base/time";
import { spanAt } from "../../../ui/times";
import type { Span } from "../../components/rules";
import { withQuery } from "../../../ui/frame/paths";

/** Selectable ranges of a monitor's history, and the length of one chart point. */
const RANGES = {
  "1h": { label: "1 hour", lengthMs: HOUR_MS, stepMs: MINUTE_MS, tickMs: 10 * MINUTE_MS },
  "24h": { label: "24 hours", lengthMs: DAY_MS, stepMs: 30 * MINUTE_MS, tickMs: 3 * HOUR_MS },
  "7d": { label: "7 days", lengthMs: 7 * DAY_MS, stepMs: 2 * HOUR_MS, tickMs: DAY_MS },
  "30d": { label: "30 days", lengthMs: 30 * DAY_MS, stepMs: 12 * HOUR_MS, tickMs: 5 * DAY_MS },
  "90d": { label: "90 days", lengthMs: 90 * DAY_MS, stepMs: DAY_MS, tickMs: 15 * DAY_MS },
  "1y": { label: "1 year", lengthMs: 365 * DAY_MS, stepMs: 5 * DAY_MS, tickMs: 60 * DAY_MS },
} as const;

type RangeName = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[];

/** Lengths of chart points, and distances between time labels, in a zoomed part. */
const STEPS = [1, 5, 30, 120, 720, 1_440, 7_200].map((minutes) => minutes * MINUTE_MS);
const TICKS = [1, 5, 10, 30, 60, 180, 720, 1_440, 7_200, 21_600, 86_400].map(
  (minutes) => minutes * MINUTE_MS,
);
const POINTS_MAX = 80;
const TICKS_MAX = 8;
/** Shortest part that can be zoomed into. */
const ZOOM_MIN_MS = 5 * MINUTE_MS;
/** Minimum time shown before and after an outage. */
const MARGIN_MIN_MS = 15 * MINUTE_MS;

export interface Range {
  /** Named range; of a zoomed part, the range before zooming. */
  name: RangeName;
  isZoomed: boolean;
  /** "last 24 hours", or the times of a zoomed part. */
  label: string;
  /** Start and end in unix ms. The end is now unless a part was zoomed into. */
  span: Span;
  /** Periods of the chart points, aligned to UTC. The last one may be incomplete. */
  steps: readonly Span[];
  /** Distance between time labels below the chart, in ms. */
  tickMs: number;
  /** Ref of the location whose results are shown; undefined for all. */
  location: string | undefined;
}

/** Times for which figures by minute and by hour are stored, in ms. */
interface Retention {
  minutesMs: number;
  hoursMs: number;
}

/** `location` is the ref of one of the monitor's locations. */
type Query = Readonly<Record<string, string | undefined>>;

export function rangeLabel(name: RangeName): string {
  return RANGES[name].label;
}

/**
 * Returns the length of chart points, at least `minMs`, and if possible the check interval: shorter points
 * would leave gaps. At least two points remain.
 */
function stepFor(minMs: number, lengthMs: number, intervalMs: number): number {
  const wanted = Math.max(minMs, Math.min(intervalMs, lengthMs / 4));
  return STEPS.find((step) => step >= wanted) ?? minMs;
}

/**
 * Reads the query parameters `range`, by default the last 24 hours up to `now` (unix ms), and `from`
 * and `to`, the times of a part that was zoomed into. Invalid ones are ignored. `intervalMs` is the
 * interval of the checks, `timeZone` that of the label.
 */
export function readRange(
  query: Query,
  now: number,
  retention: Retention,
  intervalMs = 0,
  timeZone = "UTC",
): Range {
  const name = RANGE_NAMES.find((each) => each === query["range"]) ?? "24h";
  const { location } = query;
  const zoomed = readZoom(query, now);
  if (zoomed) {
    const range = zoomedRange(name, zoomed, now - zoomed.from, retention, intervalMs);
    return { ...range, label: spanAt(zoomed, timeZone), location };
  }
  const { label, lengthMs, tickMs } = RANGES[name];
  const stepMs = stepFor(RANGES[name].stepMs, lengthMs, intervalMs);
  const span = { from: now - lengthMs, to: now };
  const last = Math.floor((now - 1) / stepMs) * stepMs;
  const first = last - (lengthMs / stepMs - 1) * stepMs;
  const steps = stepsOf({ from: first, to: now }, stepMs);
  return { name, isZoomed: false, label: `last ${label}`, span, steps, tickMs, location };
}

function readZoom(query: Query, now: number): Span | undefined {
  const [from, end] = [parseInstant(query["from"] ?? ""), parseInstant(query["to"] ?? "")];
  if (from === undefined || end === undefined) return undefined;
  const to = Math.min(end, now);
  const lengthMs = to - from;
  const isValid = lengthMs >= ZOOM_MIN_MS && lengthMs <= RANGES["1y"].lengthMs && from >= 0;
  return isValid ? { from, to } : undefined;
}

/** Returns the range of a part that began `ageMs` ago, with the shortest steps that figures exist for. */
function zoomedRange(
  name: RangeName,
  span: Span,
  ageMs: number,
  retention: Retention,
  intervalMs: number,
): Omit<Range, "label" | "location"> {
  const lengthMs = span.to - span.from;
  const isKept = (step: number) =>
    step >= DAY_MS || ageMs < (step >= HOUR_MS ? retention.hoursMs : retention.minutesMs);
  const least = STEPS.find((step) => lengthMs / step <= POINTS_MAX && isKept(step)) ?? DAY_MS;
  const stepMs = stepFor(least, lengthMs, intervalMs);
  const first = Math.floor(span.from / stepMs) * stepMs;
  return {
    name,
    isZoomed: true,
    span,
    steps: stepsOf({ from: first, to: span.to }, stepMs),
    tickMs: TICKS.find((tick) => lengthMs / tick <= TICKS_MAX) ?? 60 * DAY_MS,
  };
}

function stepsOf({ from, to }: Span, stepMs: number): Span[] {
  return Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, index) => {
    const start = from + index * stepMs;
    return { from: start, to: Math.min(to, start + stepMs) };
  });
}

/** Returns the query of a monitor's screen that shows the same range, with "?"; empty for the default. */
export function rangeQuery({ name, isZoomed, span, location }: Range): string {
  return withQuery("", {
    location,
    range: name === "24h" ? undefined : name,
    ...(isZoomed ? { from: toIso(span.from), to: toIso(span.to) } : {}),
  });
}

/** Returns the query that zooms into a time with a margin before and after it. */
export function zoomQuery({ name, location }: Range, time: Span, now: number): string {
  const margin = Math.max(MARGIN_MIN_MS, time.to - time.from);
  const from = Math.floor((time.from - margin) / MINUTE_MS) * MINUTE_MS;
  const to = Math.min(now, Math.ceil((time.to + margin) / MINUTE_MS) * MINUTE_MS);
  const longest = RANGES["1y"].lengthMs;
  return withQuery("", {
    location,
    range: name === "24h" ? undefined : name,
    from: toIso(Math.max(from, to - longest)),
    to: toIso(to),
  });
}
