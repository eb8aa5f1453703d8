/*
 * Pure decisions about keys: their state, the filters of their list, their expiry, and the text of their values.
 */
import {
  crc32,
  decodeBase62Number,
  encodeBase62,
  encodeBase62Number,
  type RandomBytes,
  sha256,
} from "../../base/hash";
import { findKeyShape } from "../../base/ids";
import {
  DAY_MS,
  EXPIRES_SOON_MS,
  HOUR_MS,
  isUtcZone,
  parseDay,
  parseInstant,
  toIso,
} from "../../base/time";
import { endOfDay, localTime, shownAt, zoneNameAt } from "../../base/zones";
import type { Scope } from "./scopes";

/**
 * Properties of a key and of the presented value that decide if it is accepted. Times in unix ms.
 */
export interface KeyState {
  expiresAt: number | null;
  revokedAt: number | null;
  /** End of this value, if a rotation has set one. */
  endsAt: number | null;
}

type KeyVerdict =
  | { live: true }
  | { live: false; code: "expired_key" | "revoked_key"; since: number; isValueOnly: boolean };

const LIVE: KeyVerdict = { live: true };

/**
 * Returns the state of a key at `now`. It is refused from the millisecond of its expiry on. A
 * revoked key is never reported as expired.
 */
export function keyState(state: KeyState, now: number): KeyVerdict {
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

export type KeyStateName = "live" | "expired" | "revoked";

/** Returns the state of a key as a whole at `now`. */
export function stateOfKey(key: Omit<KeyState, "endsAt">, now: number): KeyStateName {
  const verdict = keyState({ ...key, endsAt: null }, now);
  if (verdict.live) return "live";
  return verdict.code === "revoked_key" ? "revoked" : "expired";
}

/** Filters of the list of keys. */
export const KEY_FILTERS = [
  "all",
  "live",
  "expiring",
  "never_expires",
  "unused",
  "limited",
] as const;

/**
 * `expiring`: live, and expires within 14 days. `never_expires`: live, without an expiry. `unused`:
 * live, created more than 90 days ago, and not used in the last 90 days. `limited`: live, and
 * exceeded its rate limit in the last 7 days.
 */
export type KeyFilter = (typeof KEY_FILTERS)[number];

/**
 * Returns true if the filter `expiring` finds a live key with this `expires_at` at `now` (unix ms).
 */
export function isExpiringSoon(expiresAt: string, now: number): boolean {
  return Date.parse(expiresAt) <= now + EXPIRES_SOON_MS;
}

/** Columns by which the list of keys can be sorted. */
export const KEY_SORTS = ["name", "limit", "used", "created", "expires"] as const;
type KeySort = (typeof KEY_SORTS)[number];

/** Order of the list of keys: smallest values first, or with "-" the largest. Keys without a value are last in both. */
export type KeyOrder = KeySort | `-${KeySort}`;

/** Times that the filters compare with, in unix ms. */
export interface KeyFilterTimes {
  now: number;
  /** Latest time within 14 days. */
  expiringUntil: number;
  /** Start of the last 90 days. */
  usedSince: number;
  /** Hours that start after this time overlap the last 7 days. */
  limitedSince: number;
}

/**
 * Returns the times of the filters at `now`. Rejections are counted by hour, so an hour counts if
 * any part of it lies within the last 7 days.
 */
export function timesOfFilters(now: number): KeyFilterTimes {
  return {
    now,
    expiringUntil: now + EXPIRES_SOON_MS,
    usedSince: now - 90 * DAY_MS,
    limitedSince: now - 7 * DAY_MS - HOUR_MS,
  };
}

/** First time that ISO 8601 cannot write with a four-digit year. */
const YEAR_10000 = Date.UTC(10_000, 0, 1);

/**
 * Returns the end of a key with this expiration: the midnight after a UTC day, or an instant
 * itself. Returns the error of a text that is neither, or that lies in the past.
 */
export function decideExpiry(text: string, now: number): { expiresAt: number } | { error: string } {
  const day = parseDay(text);
  const expiresAt = day === undefined ? parseInstant(text) : day + DAY_MS;
  if (expiresAt === undefined) {
    return { error: "must be a day such as 2027-01-31, or a time with its zone" };
  }
  if (expiresAt <= now) return { error: "is in the past" };
  if (expiresAt >= YEAR_10000) {
    return { error: "is too far in the future; omit it for no expiration" };
  }
  return { expiresAt };
}

/** Days after which a key can be chosen to expire. */
export const EXPIRY_DAYS = ["7", "30", "90", "365"] as const;

/**
 * Returns the `expires` of a new key for a choice at `now` (unix ms): "never", a number of days of
 * `EXPIRY_DAYS`, or "date". Null for never, else the last day on which the key works, or the end of that day if the
 * time zone is not UTC; 7 is the seventh day after today. Returns the error of an invalid date or choice.
 */
export function expiryOfChoice(
  choice: string,
  date: string | undefined,
  now: number,
  timeZone = "UTC",
): string | null | { error: string } {
  if (choice === "never") return null;
  const days = EXPIRY_DAYS.find((option) => option === choice);
  const endOf = (day: string) => (isUtcZone(timeZone) ? day : toIso(endOfDay(day, timeZone)));
  if (days !== undefined) return endOf(toDay(shownAt(now, timeZone) + Number(days) * DAY_MS));
  if (choice !== "date") {
    return { error: `must be never, ${EXPIRY_DAYS.join(", ")} (days) or date` };
  }
  const day = date?.trim() ?? "";
  if (parseDay(day) === undefined) return { error: "must be a day such as 2027-01-31" };
  const expires = endOf(day);
  const expiry = decideExpiry(expires, now);
  return "error" in expiry ? expiry : expires;
}

/** Choice and date in the form for a new key. */
export interface ExpiryChoice {
  choice: string;
  date: string;
}

/**
 * Returns the choice with which a key that is created at `now` works for as many days of a time zone as another one
 * from its creation on. Times in unix ms.
 */
export function expiryChoiceLike(
  { createdAt, expiresAt }: { createdAt: number; expiresAt: number | null },
  now: number,
  timeZone = "UTC",
): ExpiryChoice {
  if (expiresAt === null) return { choice: "never", date: "" };
  // A key for 7 days works until the end of the seventh day, which is more than 7 and at most 8 days of a clock.
  const length = shownAt(expiresAt - 1, timeZone) + 1 - shownAt(createdAt, timeZone);
  const days = Math.max(0, Math.ceil(length / DAY_MS) - 1);
  const choice = EXPIRY_DAYS.find((option) => option === String(days));
  return choice
    ? { choice, date: "" }
    : {
        choice: "date",
        date: toDay(Math.min(shownAt(now, timeZone) + days * DAY_MS, YEAR_10000 - 2 * DAY_MS)),
      };
}

/**
 * Describes a key's `expires_at` in a time zone: by a day, `2027-01-31`, at whose end the key expires, or by a time,
 * `2027-01-31 14:05 UTC`.
 */
export function describeExpiry(expiresAt: string, timeZone = "UTC"): string {
  const end = Date.parse(expiresAt);
  const day = localTime(end - 1, timeZone).slice(0, 10);
  if (end === endOfDay(day, timeZone)) return day;
  const local = localTime(end, timeZone);
  const { name, offset } = zoneNameAt(end, timeZone);
  return `${local.slice(0, 16).replace("T", " ")} ${name ?? offset}`;
}

function toDay(ms: number): string {
  return toIso(ms).slice(0, 10);
}

/** Time for which the old value of a rotated key keeps working, in milliseconds. */
export const OVERLAPS = {
  now: 0,
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
} as const;

export type Overlap = keyof typeof OVERLAPS;

/** Returns a scope that the caller lacks; undefined if none. */
export function missingScope(
  held: ReadonlySet<string>,
  needed: readonly Scope[],
): Scope | undefined {
  for (const scope of needed) {
    if (!held.has(scope)) return scope;
  }
  return undefined;
}

/*
 * A key's value: `allclear_`, 43 base62 characters (32 random bytes), and 6 base62 characters of
 * CRC-32 over the characters before them. With the checksum, a mistyped value is rejected without a
 * look-up, and secret scanners recognise real values.
 */

/** Prefix of every key value. */
export const KEY_PREFIX = "allclear_";

const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const START_LENGTH = 13;
const VALUE_LENGTH = KEY_PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH;
const SHAPE = /^allclear_[0-9A-Za-z]{49}$/;

/** Makes a new value. It is shown once; only its hash is kept. */
export function generateKeyValue(random: RandomBytes): string {
  const body = KEY_PREFIX + encodeBase62(random(SECRET_BYTES), SECRET_LENGTH);
  return body + checksum(body);
}

/** Returns true if a text has a key value's shape and a valid checksum. The key may not exist. */
export function isKeyValue(text: string): boolean {
  if (text.length !== VALUE_LENGTH || !SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return decodeBase62Number(text, VALUE_LENGTH - CHECKSUM_LENGTH) === crc32(body);
}

/** Returns the start of the first key value in a text; undefined without a key value. */
export function startOfValueIn(text: string): string | undefined {
  const shape = findKeyShape(text);
  return shape === undefined ? undefined : keyValueStart(shape);
}

/** Returns the SHA-256 of a value, which is stored and by which a value is found. */
export function hashKeyValue(value: string): Buffer {
  return sha256(value);
}

/** Returns the first characters of a value, by which people recognise it. */
export function keyValueStart(value: string): string {
  return value.slice(0, START_LENGTH);
}

function checksum(body: string): string {
  return encodeBase62Number(crc32(body), CHECKSUM_LENGTH);
}
