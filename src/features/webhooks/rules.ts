import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import type { DeliveryStatus } from "../../base/webhook";
import { longestSpread, spreadWait } from "../sending/rules";
import type { DeliveryRow } from "./delivery-store";

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

/** Time without a success after which an endpoint is disabled. */
const DISABLE_AFTER_MS = 5 * DAY_MS;

/**
 * Number of failed attempts of one delivery before it can disable its endpoint, which takes most of
 * a day. Without it, two failures a week apart would disable an endpoint that receives few events.
 */
const DISABLE_AFTER_FAILURES = 6;

/** Maximum delay of a retry. */
export const LONGEST_WAIT_MS = longestSpread(DAY_MS);

/**
 * Time for which a process must have seen nothing but refusals before one can disable the endpoint. Without it, two
 * refusals would do that if no event, or no process, was there in the days between them.
 */
const DISABLE_AFTER_REFUSING_MS = DAY_MS;

const TOO_MANY_REQUESTS = 429;

const UNAVAILABLE = 503;

const GONE = 410;

/** Shortest and longest pause that a receiver can ask for. */
const PAUSE_MIN_MS = 100;

const PAUSE_MAX_MS = 15 * MINUTE_MS;

/** Outcome of an attempt, with the facts that its consequences depend on. */
interface EndedTry {
  /** Null without a response. */
  statusCode: number | null;
  /** Set if no retry can succeed, with the reason for disabling the endpoint if there is one. */
  permanent?: { reason?: string } | undefined;
  /** End in unix ms. */
  endedAt: number;
  /** Number of failed attempts before it, since the delivery was queued. */
  failuresBefore: number;
  /** As `canRetry` returns it. */
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

/** Returns true if deliveries of a type of event may be attempted again. A test event is attempted once. */
export function canRetry(eventType: string): boolean {
  return eventType !== "webhook.test";
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
  return { status: "pending", failingSince, waitMs: spreadWait(delay, ended.chance) };
}

/** Parts of a response that can refuse a message for now. */
interface Answer {
  statusCode: number;
  /** Header `Retry-After`, unparsed. */
  retryAfter: string | undefined;
  /** Header `Date`, unparsed. */
  date: string | undefined;
  /** Time in seconds that the body names, as it was parsed; undefined without one. */
  bodySeconds: unknown;
  /** Time of the response in unix ms. */
  at: number;
}

/** Refusal of a message for now: it can be sent again, which is no retry. */
export interface RefusedMessage {
  /** Time for which the receiver asks to send nothing, in ms, within the limits of pauses; undefined if it names none. */
  namedMs: number | undefined;
}

/**
 * Returns the refusal that a response is: a 429, or a 503 whose `Retry-After` names a time to come. Undefined for
 * others. If header and body name a time, the longer one counts.
 */
export function refusalOf({
  statusCode,
  retryAfter,
  date,
  bodySeconds,
  at,
}: Answer): RefusedMessage | undefined {
  if (statusCode !== TOO_MANY_REQUESTS && statusCode !== UNAVAILABLE) return undefined;
  const named = headerMs(retryAfter, date, at);
  if (statusCode === UNAVAILABLE) return named > 0 ? { namedMs: believed(named) } : undefined;
  const longest = Math.max(named, secondsMs(bodySeconds));
  return { namedMs: longest > 0 ? believed(longest) : undefined };
}

/**
 * Returns the rest of a recorded pause at `now` (unix ms), in ms; 0 if it is over. A longer rest than any pause exists
 * only if the clock was set back, and does not count.
 */
export function pauseLeft(until: number | undefined, now: number): number {
  const left = until === undefined ? 0 : until - now;
  return left > 0 && left <= PAUSE_MAX_MS ? left : 0;
}

function believed(ms: number): number {
  return Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, Math.ceil(ms)));
}

/** Returns the time in `Retry-After`, in ms: seconds or a date. 0 or less if it names no time to come. */
function headerMs(retryAfter: string | undefined, date: string | undefined, at: number): number {
  const text = retryAfter?.trim() ?? "";
  const until = parseHttpDate(text);
  // The receiver's own clock, if it tells it, so that a difference of the clocks does not count.
  return until === undefined ? secondsMs(text) : until - (parseHttpDate(date?.trim()) ?? at);
}

const DECIMAL = /^\d+(?:\.\d*)?$|^\.\d+$/;

/** Returns a number of seconds, or one as text, in ms; 0 for other values. */
function secondsMs(value: unknown): number {
  const isNumber = typeof value === "number" || (typeof value === "string" && DECIMAL.test(value));
  const seconds = isNumber ? Number(value) : 0;
  return Number.isNaN(seconds) ? 0 : seconds * SECOND_MS;
}

/** The current and the two obsolete forms of RFC 9110. The last one names no zone, and is in UTC. */
const DATE_WITH_ZONE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

const DATE_WITHOUT_ZONE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const zoned = DATE_WITHOUT_ZONE.test(text) ? `${text} GMT` : text;
  const ms = DATE_WITH_ZONE.test(text) || zoned !== text ? Date.parse(zoned) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** A refused attempt. */
interface RefusedAttempt {
  /** End in unix ms. */
  endedAt: number;
  /** Time for which its destination has refused all messages, in ms. */
  refusingMs: number;
  /** As in `EndedTry`. */
  failingSince: number | null;
}

/** Returns the consequences of a refusal for the endpoint. The delivery stays as it is. */
export function classifyRefusal({
  endedAt,
  refusingMs,
  failingSince: before,
}: RefusedAttempt): Pick<AttemptOutcome, "disable"> & { failingSince: number } {
  const failingSince = Math.min(before ?? endedAt, endedAt);
  const isOver =
    endedAt - failingSince >= DISABLE_AFTER_MS && refusingMs >= DISABLE_AFTER_REFUSING_MS;
  return {
    failingSince,
    ...(isOver && { disable: "The receiver has refused all deliveries for 5 days." }),
  };
}

/** Returns true if a person disabled the endpoint, not the failures of its deliveries. */
export function isDisabledByPerson(webhook: {
  enabled: boolean;
  disabledReason: string | null;
}): boolean {
  return !webhook.enabled && webhook.disabledReason === null;
}

/** Returns the group with which a delivery is sent; null if it is sent by itself. */
export function groupOf({
  groupId,
  triesBefore,
}: Pick<DeliveryRow, "groupId" | "triesBefore">): string | null {
  return triesBefore === 0 ? groupId : null;
}
