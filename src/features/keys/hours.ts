import type { Reader } from "../../db";
import { HOUR_MS } from "../../kernel/time";
import { getKeyRow } from "./service";
import { listKeyHoursSince } from "./store";

/** Number of hours in the figures of a day: the current one and those before it. */
const HOURS_SHOWN = 24;

/** Answers that a key was given. 5xx answers are the server's doing and count as none. */
export interface AnswerCounts {
  ok: number;
  client_error: number;
  /** Refused for the key's rate limit. */
  limited: number;
  total: number;
}

export interface KeyUsageSummary {
  /** Of 24 whole hours, the present one included. */
  last24h: AnswerCounts;
}

/** The beginnings of the 24 hours that a day's figures are of, oldest first, in unix ms. */
export function hoursOfDayBefore(now: number): number[] {
  const present = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from(
    { length: HOURS_SHOWN },
    (_, index) => present - (HOURS_SHOWN - 1 - index) * HOUR_MS,
  );
}

/**
 * Counts the responses to a key in the last 24 hours. Counts are written every five seconds. Throws
 * `not_found`.
 */
export function usageOfKey(reader: Reader, id: string, now: number): KeyUsageSummary {
  getKeyRow(reader, id);
  const [since = now] = hoursOfDayBefore(now);
  const last24h: AnswerCounts = { ok: 0, client_error: 0, limited: 0, total: 0 };
  for (const { ok, clientError, limited } of listKeyHoursSince(reader, { keyId: id, since })) {
    last24h.ok += ok;
    last24h.client_error += clientError;
    last24h.limited += limited;
    last24h.total += ok + clientError + limited;
  }
  return { last24h };
}
