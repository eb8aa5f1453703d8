/*
 * Period of figures, divided into intervals. Pure: the current time is an argument. Times are unix
 * ms; ends are exclusive.
 */
import { invalidParameter, Problem } from "../../base/errors";
import { DAY_MS, HOUR_MS, parseInstant, startOfDay } from "../../base/time";
import type { Span } from "../components/rules";

/** Calendar hours, days and months in UTC. */
export const INTERVALS = ["hour", "day", "month"] as const;
export type IntervalName = (typeof INTERVALS)[number];

/**
 * Maximum number of lines of an answer: intervals times subjects. Enough for a month by hour, and
 * few enough to be as fast as other reads.
 */
export const LINES_MAX = 750;
/** Default number of UTC days, the last one included. */
export const DEFAULT_DAYS = 30;

export interface Period extends Span {
  /** Null for a single interval. */
  interval: IntervalName | null;
  /** Consecutive spans, oldest first; the first and last may be cut by the period. */
  spans: readonly Span[];
}

/** Start, end and interval as the caller sends them; times in ISO 8601. */
export interface PeriodInput {
  from?: string | undefined;
  to?: string | undefined;
  interval?: IntervalName | undefined;
}

/**
 * Returns the period of a caller: by default the last 30 UTC days, including today. The future is
 * cut off. Throws `invalid_request` if the end is before the start, nothing is left, or there are
 * more intervals than an answer may have.
 */
export function readPeriod(input: PeriodInput, now: number): Period {
  const to = Math.min(now, instantOf(input.to) ?? now);
  const from = instantOf(input.from) ?? startOfDay(to - 1) - (DEFAULT_DAYS - 1) * DAY_MS;
  if (from >= (instantOf(input.to) ?? Number.POSITIVE_INFINITY)) {
    throw invalidParameter("from", "must be before to");
  }
  if (from >= to) throw invalidParameter("from", "must be in the past");
  const interval = input.interval ?? null;
  if (interval === null) return { from, to, interval, spans: [{ from, to }] };
  const spans: Span[] = [];
  for (let at = from; at < to; at = spans.at(-1)?.to ?? to) {
    spans.push({ from: at, to: Math.min(to, nextEdge(at, interval)) });
    if (spans.length > LINES_MAX) throw tooManyLines();
  }
  return { from, to, interval, spans };
}

/** Throws `invalid_request` if these subjects make more lines than an answer may have. */
export function requireLines(subjects: number, { spans }: Period): void {
  if (subjects * spans.length > LINES_MAX) throw tooManyLines();
}

/** Returns the end of the interval that contains a time. */
function nextEdge(at: number, interval: IntervalName): number {
  if (interval === "hour") return (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;
  if (interval === "day") return startOfDay(at) + DAY_MS;
  const day = new Date(at);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1);
}

function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseInstant(text);
}

/** Returns a number that two times share exactly if they are in the same interval. */
export function numberOf(at: number, interval: IntervalName | null): number {
  if (interval === null) return 0;
  if (interval !== "month") return Math.floor(at / (interval === "hour" ? HOUR_MS : DAY_MS));
  const day = new Date(at);
  return day.getUTCFullYear() * 12 + day.getUTCMonth();
}

function tooManyLines(): Problem {
  const detail = `must be larger: the answer would have more than ${LINES_MAX} lines`;
  return new Problem(
    "invalid_request",
    `The answer would have more than ${LINES_MAX} lines. Request a shorter period, longer intervals, or one page, component, monitor or key.`,
    { fields: [{ pointer: "#/interval", detail }] },
  );
}
