import { DAY_MS, parseDay, parseInstant } from "../../kernel/time";
import type { Scope } from "./scopes";

/** What of a key and the value presented decides whether it opens anything. Times in unix ms. */
export interface KeyState {
  expiresAt: number | null;
  revokedAt: number | null;
  /** The end of this value, where a rotation has set one. */
  endsAt: number | null;
}

export type KeyVerdict =
  | { live: true }
  | { live: false; code: "expired_key" | "revoked_key"; since: number; isValueOnly: boolean };

const LIVE: KeyVerdict = { live: true };

/**
 * Whether a key opens anything at this moment. It is refused from the very millisecond of its expiry,
 * and revocation, being final, is told before expiry.
 */
export function judgeKey(state: KeyState, now: number): KeyVerdict {
  if (state.revokedAt !== null) {
    return { live: false, code: "revoked_key", since: state.revokedAt, isValueOnly: false };
  }
  if (state.expiresAt !== null && now >= state.expiresAt) {
    return { live: false, code: "expired_key", since: state.expiresAt, isValueOnly: false };
  }
  if (state.endsAt !== null && now >= state.endsAt) {
    return { live: false, code: "expired_key", since: state.endsAt, isValueOnly: true };
  }
  return LIVE;
}

/** The first moment that ISO 8601 cannot write with a year of four digits. */
const YEAR_10000 = Date.UTC(10_000, 0, 1);

/**
 * When a key given this expiration stops: a day lasts to its end in UTC, so it is the next midnight;
 * an instant is itself. Answers what is wrong with a text that is neither, or that lies in the past.
 */
export function decideExpiry(
  text: string,
  now: number,
): { expiresAt: number } | { complaint: string } {
  const day = parseDay(text);
  const expiresAt = day === undefined ? parseInstant(text) : day + DAY_MS;
  if (expiresAt === undefined) {
    return { complaint: "must be a day such as 2027-01-31, or a time with its zone" };
  }
  if (expiresAt <= now) return { complaint: "lies in the past" };
  if (expiresAt >= YEAR_10000) {
    return { complaint: "lies too far ahead; leave it out for a key that never expires" };
  }
  return { expiresAt };
}

/** How long the old value of a rotated key goes on working, in milliseconds. */
export const OVERLAPS = {
  now: 0,
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
} as const;

export type Overlap = keyof typeof OVERLAPS;

/** Which scope a caller lacks; undefined if none. */
export function missingScope(
  held: ReadonlySet<string>,
  needed: readonly Scope[],
): Scope | undefined {
  for (const scope of needed) {
    if (!held.has(scope)) return scope;
  }
  return undefined;
}
