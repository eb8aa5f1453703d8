/*
 * What time a figure is of, and into which intervals that is divided. Pure: the present is an argument.
 * Times are unix ms; an end is not included.
 */
import { invalidParameter, Problem } from "../../errors";
import { DAY_MS, HOUR_MS, parseInstant, startOfDay } from "../../kernel/time";
import type { Span } from "../components";

/** Hours, days and months of the calendar in UTC. */
export const INTERVALS = ["hour", "day", "month"] as const;
export type IntervalName = (typeof INTERVALS)[number];

/**
 * The most lines that one answer has: intervals, times what they are told of. Enough for a month by the
 * hour, and few enough that none of them takes longer than other reads do.
 */
export const LINES_MAX = 750;
/** Default number of UTC days, the last one included. */
export const DEFAULT_DAYS = 30;

export interface Period extends Span {
  /** Null where the figures are of the whole time. */
  interval: IntervalName | null;
  /** One after the other, oldest first; the first and the last may be cut short by the period's ends. */
  spans: readonly Span[];
}

/** A caller's limits of the period, in ISO 8601. */
export interface PeriodInput {
  from?: string | undefined;
  to?: string | undefined;
  interval?: IntervalName | undefined;
}

/**
 * The time that a caller means: the last 30 UTC days, today included, unless something else is said. What
 * has not been yet is left out. Throws `invalid_request` where the ends are the wrong way round, nothing is
 * left, or there are more intervals than an answer may have.
 */
export function readPeriod(input: PeriodInput, now: number): Period {
  const to = Math.min(now, instantOf(input.to) ?? now);
  const from = instantOf(input.from) ?? startOfDay(to - 1) - (DEFAULT_DAYS - 1) * DAY_MS;
  if (from >= (instantOf(input.to) ?? Number.POSITIVE_INFINITY)) {
    throw invalidParameter("from", "must be before to");
  }
  if (from >= to) throw invalidParameter("from", "must lie in the past");
  const interval = input.interval ?? null;
  if (interval === null) return { from, to, interval, spans: [{ from, to }] };
  const spans: Span[] = [];
  for (let at = from; at < to; at = spans.at(-1)?.to ?? to) {
    spans.push({ from: at, to: Math.min(to, nextEdge(at, interval)) });
    if (spans.length > LINES_MAX) throw tooManyLines();
  }
  return { from, to, interval, spans };
}

/** Throws `invalid_request` where so many subjects make more lines than an answer may have. */
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

/** A number that two moments have in common only where they lie in the same interval. */
export function numberOf(at: number, interval: IntervalName | null): number {
  if (interval === null) return 0;
  if (interval !== "month") return Math.floor(at / (interval === "hour" ? HOUR_MS : DAY_MS));
  const day = new Date(at);
  return day.getUTCFullYear() * 12 + day.getUTCMonth();
}

function tooManyLines(): Problem {
  const detail = `would make more than ${LINES_MAX} lines`;
  return new Problem(
    "invalid_request",
    `The answer would have more than ${LINES_MAX} lines. Ask for a shorter time, for longer intervals, or for one page, component, monitor or key.`,
    { fields: [{ pointer: "#/interval", detail }] },
  );
}
