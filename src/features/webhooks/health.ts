import type { Reader } from "../../db/statements";
import { HOUR_MS } from "../../base/time";
import {
  countAllTries,
  countTries,
  findLastFailure,
  findQueuedAt,
  listBacklogs,
} from "./log-store";

/** Number of deliveries searched for the last failure. */
const DELIVERIES_LOOKED_AT = 100;

/**
 * Returns the share of an endpoint's attempts that succeeded, 0 to 1, in the current hour and the
 * 23 before it; null without attempts. `now` in unix ms.
 */
export function successRate(reader: Reader, webhookId: string, now: number): number | null {
  const since = now - (now % HOUR_MS) - 23 * HOUR_MS;
  const { succeeded = 0, failed = 0 } = countTries(reader, { webhookId, since, until: now }) ?? {};
  return succeeded + failed === 0 ? null : succeeded / (succeeded + failed);
}

/** Attempts of all endpoints. */
interface AttemptCounts {
  /** Number of endpoints, enabled or not. */
  endpoints: number;
  succeeded: number;
  failed: number;
}

/** Counts the attempts of all endpoints in the current hour and the 23 before it. `now` in unix ms. */
export function countAttempts(reader: Reader, now: number): AttemptCounts {
  const since = now - (now % HOUR_MS) - 23 * HOUR_MS;
  return countAllTries(reader, { since, until: now }) ?? { endpoints: 0, succeeded: 0, failed: 0 };
}

/** A failed attempt. */
export interface Failure {
  /** Unix ms. */
  at: number;
  /** Null without a response; then `error` gives the reason. */
  statusCode: number | null;
  error: string | null;
}

/** Returns the last failed attempt of an endpoint's 100 newest deliveries, if there is one. */
export function lastFailure(reader: Reader, webhookId: string): Failure | undefined {
  return findLastFailure(reader, { webhookId, among: DELIVERIES_LOOKED_AT });
}

/** Waiting deliveries of an endpoint. */
export interface Backlog {
  webhookId: string;
  count: number;
  /** Time at which the oldest one was queued, in unix ms. */
  oldestAt: number;
}

/** Pending deliveries of all endpoints. */
interface DeliveryHealth {
  backlogs: Backlog[];
  count: number;
  /** Time at which the oldest one was queued, in unix ms; null without any. */
  oldestAt: number | null;
}

/** Returns the pending deliveries of all endpoints at `now` (unix ms). */
export function deliveryHealth(reader: Reader, now: number): DeliveryHealth {
  const rows = listBacklogs(reader, {});
  const backlogs = rows.map(({ webhookId, count, oldestId }) => ({
    webhookId,
    count,
    oldestAt: findQueuedAt(reader, { id: oldestId })?.createdAt ?? now,
  }));
  const oldest = backlogs.map(({ oldestAt }) => oldestAt);
  return {
    backlogs,
    count: backlogs.reduce((sum, { count }) => sum + count, 0),
    oldestAt: oldest.length === 0 ? null : Math.min(...oldest),
  };
}
