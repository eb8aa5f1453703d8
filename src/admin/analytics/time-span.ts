import { type PeriodInput } from "../../features/analytics";
import { DAY_MS, startOfDay, toIso } from "../../kernel/time";

interface TimeSpan {
  label: string;
  /** Returns start and end in unix ms. A missing end means now. */
  of(now: number): { from: number; to?: number };
}

/** Returns the start of a UTC month in unix ms, `more` months after the month of `now`. */
function month(now: number, more: number): number {
  const day = new Date(now);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + more);
}

/** Returns a period of UTC days that includes today. */
const days = (count: number): TimeSpan => ({
  label: `Last ${count} days`,
  of: (now) => ({ from: startOfDay(now) - (count - 1) * DAY_MS }),
});

const SPANS = {
  "24h": { label: "Last 24 hours", of: (now) => ({ from: now - DAY_MS }) },
  "7d": days(7),
  "30d": days(30),
  "90d": days(90),
  "365d": days(365),
  month: { label: "This month", of: (now) => ({ from: month(now, 0) }) },
  "last-month": {
    label: "Last month",
    of: (now) => ({ from: month(now, -1), to: month(now, 0) }),
  },
} satisfies Record<string, TimeSpan>;

export type SpanName = keyof typeof SPANS;

/** Options of the period filter. */
export const SPAN_OPTIONS = Object.entries(SPANS).map(([value, { label }]) => ({ value, label }));

export const USUAL_SPAN: SpanName = "30d";

/** Returns the named period; the last 30 days for an unknown name. */
export function readSpan(asked: string | undefined): SpanName {
  return asked !== undefined && Object.hasOwn(SPANS, asked) ? (asked as SpanName) : USUAL_SPAN;
}

/** Returns start and end of a period as input for the services. */
export function periodInput(name: SpanName, now: number): PeriodInput {
  const { from, to }: ReturnType<TimeSpan["of"]> = SPANS[name].of(now);
  // At the very first moment of a month that has no length yet.
  const start = Math.min(from, now - 1);
  return { from: toIso(start), ...(to === undefined ? {} : { to: toIso(to) }) };
}

/** Returns the last twelve months, including the current one. */
export function lastTwelveMonths(now: number): PeriodInput {
  return { from: toIso(Math.min(month(now, -11), now - 1)), interval: "month" };
}
