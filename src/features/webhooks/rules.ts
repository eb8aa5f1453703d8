import type { DeliveryStatus } from "../../domain/webhook";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../kernel/time";

/** The waits after each failure. What fails once more after the last is given up: 76 hours in all. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** By which part of it a wait may be shorter or longer, so that what failed at once comes back apart. */
const SPREAD = 0.2;

/** An endpoint that fails for so long, without a success in between, is disabled… */
const DISABLE_AFTER_MS = 5 * DAY_MS;

/**
 * … by a delivery that has itself failed so often before, which takes most of a day: where little happens, a
 * failure today and another last week are no five days of them.
 */
const DISABLE_AFTER_FAILURES = 6;

/** Nobody may ask for a longer wait. */
const RETRY_AFTER_MAX_MS = DAY_MS;

/** No wait is longer than this. */
export const LONGEST_WAIT_MS = DAY_MS * (1 + SPREAD);

const GONE = 410;
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

/** Outcome of an attempt, with the facts that its consequences depend on. */
export interface EndedTry {
  /** Null where nothing answered. */
  statusCode: number | null;
  /** The answer's header `Retry-After`, as it came. */
  retryAfter: string | undefined;
  /** End in unix ms. */
  endedAt: number;
  /** Number of failed attempts before it, since the delivery was queued. */
  failuresBefore: number;
  /** True if it may be attempted again. Test deliveries are attempted once. */
  mayRetry: boolean;
  /** Since when every try of the endpoint has failed (unix ms); null if the last one did not. */
  failingSince: number | null;
  /** 0 to 1, evenly spread. */
  chance: number;
}

/** Consequences of an attempt. */
export interface AttemptOutcome {
  status: DeliveryStatus;
  /** Wait before the next attempt; undefined without one. */
  waitMs?: number;
  failingSince: number | null;
  /** Reason for disabling the endpoint, as a sentence; undefined if it stays enabled. */
  disable?: string;
}

/** Only 2xx is success: a redirect would have to be followed, which may lead anywhere. */
export function isSuccess(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

/** Returns the consequences of an attempt for its delivery and its endpoint. */
export function classifyAttempt(ended: EndedTry): AttemptOutcome {
  const { statusCode, endedAt, failuresBefore, mayRetry } = ended;
  if (isSuccess(statusCode)) return { status: "delivered", failingSince: null };
  const failingSince = Math.min(ended.failingSince ?? endedAt, endedAt);
  const failed = { status: "failed", failingSince } as const;
  if (statusCode === GONE) {
    return { ...failed, disable: "It answered 410 Gone: it wants nothing more." };
  }
  if (endedAt - failingSince >= DISABLE_AFTER_MS && failuresBefore >= DISABLE_AFTER_FAILURES) {
    return { ...failed, disable: "Every delivery to it has failed for 5 days." };
  }
  const delay = RETRY_DELAYS_MS[failuresBefore];
  if (delay === undefined || !mayRetry) return failed;
  const waitMs = delay * (1 - SPREAD + 2 * SPREAD * ended.chance);
  return {
    status: "pending",
    failingSince,
    waitMs: Math.round(Math.max(waitMs, askedWait(ended) ?? 0)),
  };
}

/** For how long the receiver asks to be left alone (RFC 9110, `Retry-After`), a day at most. */
function askedWait({ statusCode, retryAfter, endedAt }: EndedTry): number | undefined {
  if (statusCode === null || !ASKS_TO_WAIT.has(statusCode) || retryAfter === undefined) {
    return undefined;
  }
  const text = retryAfter.trim();
  // Each form of an HTTP date that names its zone; a number alone would be read as a year.
  const wait = /^\d+$/.test(text)
    ? Number(text) * SECOND_MS
    : text.endsWith(" GMT")
      ? Date.parse(text) - endedAt
      : Number.NaN;
  return wait > 0 ? Math.min(wait, RETRY_AFTER_MAX_MS) : undefined;
}
