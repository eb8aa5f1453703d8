import type { DeliveryStatus } from "../../domain/webhook";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../kernel/time";

/**
 * Delays after each failed attempt. A delivery that fails after the last one is given up: 76 hours
 * in all.
 */
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

/**
 * Random share by which a delay is shorter or longer, so that failures of one moment are not
 * repeated together.
 */
const SPREAD = 0.2;

/** Time without a success after which an endpoint is disabled. */
const DISABLE_AFTER_MS = 5 * DAY_MS;

/**
 * Number of failed attempts of one delivery before it can disable its endpoint, which takes most of
 * a day. Without it, two failures a week apart would disable an endpoint that receives few events.
 */
const DISABLE_AFTER_FAILURES = 6;

/** Maximum delay that a receiver can ask for. */
const RETRY_AFTER_MAX_MS = DAY_MS;

/** Maximum delay of a retry. */
export const LONGEST_WAIT_MS = DAY_MS * (1 + SPREAD);

const GONE = 410;
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503]);

/** Outcome of an attempt, with the facts that its consequences depend on. */
export interface EndedTry {
  /** Null without a response. */
  statusCode: number | null;
  /** `Retry-After` header of the response, unparsed. */
  retryAfter: string | undefined;
  /** Set if no retry can succeed, with the reason for disabling the endpoint if there is one. */
  permanent?: { reason?: string } | undefined;
  /** End in unix ms. */
  endedAt: number;
  /** Number of failed attempts before it, since the delivery was queued. */
  failuresBefore: number;
  /** True if it may be attempted again. Test deliveries are attempted once. */
  canRetry: boolean;
  /**
   * Start of the time in which all attempts of the endpoint failed (unix ms); null after a success.
   */
  failingSince: number | null;
  /** Random number from 0 to 1. */
  chance: number;
}

/** Consequences of an attempt. */
interface AttemptOutcome {
  status: DeliveryStatus;
  /** Wait before the next attempt; undefined without one. */
  waitMs?: number;
  failingSince: number | null;
  /** Reason for disabling the endpoint, as a sentence; undefined if it stays enabled. */
  disable?: string;
}

/** Returns true for 2xx. Redirects are not followed, so they are failures. */
export function isSuccess(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

/** Returns the consequences of an attempt for its delivery and its endpoint. */
export function classifyAttempt(ended: EndedTry): AttemptOutcome {
  const { statusCode, endedAt, failuresBefore, canRetry } = ended;
  if (isSuccess(statusCode)) return { status: "delivered", failingSince: null };
  const failingSince = Math.min(ended.failingSince ?? endedAt, endedAt);
  const failed = { status: "failed", failingSince } as const;
  if (ended.permanent) {
    const { reason } = ended.permanent;
    return { ...failed, ...(reason !== undefined && { disable: reason }) };
  }
  if (statusCode === GONE) {
    return { ...failed, disable: "The endpoint answered 410 Gone." };
  }
  if (endedAt - failingSince >= DISABLE_AFTER_MS && failuresBefore >= DISABLE_AFTER_FAILURES) {
    return { ...failed, disable: "All deliveries have failed for 5 days." };
  }
  const delay = RETRY_DELAYS_MS[failuresBefore];
  if (delay === undefined || !canRetry) return failed;
  const waitMs = delay * (1 - SPREAD + 2 * SPREAD * ended.chance);
  return {
    status: "pending",
    failingSince,
    waitMs: Math.round(Math.max(waitMs, requestedWait(ended) ?? 0)),
  };
}

/** Returns the delay that the receiver asks for (`Retry-After`, RFC 9110), at most a day. */
function requestedWait({ statusCode, retryAfter, endedAt }: EndedTry): number | undefined {
  if (statusCode === null || !ASKS_TO_WAIT.has(statusCode) || retryAfter === undefined) {
    return undefined;
  }
  const text = retryAfter.trim();
  // HTTP dates end in GMT. Date.parse would read a plain number as a year.
  const wait = /^\d+$/.test(text)
    ? Number(text) * SECOND_MS
    : text.endsWith(" GMT")
      ? Date.parse(text) - endedAt
      : Number.NaN;
  return wait > 0 ? Math.min(wait, RETRY_AFTER_MAX_MS) : undefined;
}
