import { type Role, roleAllows } from "../../base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";

/** Time without use after which a session ends. */
export const SESSION_IDLE_MS = DAY_MS;

/** Time after its start at which a session ends, even if it is used. */
export const SESSION_LIFETIME_MS = 14 * DAY_MS;

/**
 * Time after its start at which a session ends that began with an identity of another system. Disabling someone there
 * has an effect here within this time.
 */
export const IDENTITY_SESSION_MS = 12 * HOUR_MS;

/** Time between a right password and the code, after which the sign-in starts again. */
export const STEP_MS = 10 * MINUTE_MS;

/** Minimum interval between writes of a session's last use. */
const TOUCH_INTERVAL_MS = MINUTE_MS;

/** Properties of a session and its user that decide if it is accepted. Times in unix ms. */
interface SessionState {
  createdAt: number;
  lastSeenAt: number;
  /** Identity with which it began; null for a password or a link. */
  identityId: number | null;
  userDisabledAt: number | null;
  userDeletedAt: number | null;
}

/**
 * Returns true if a session is accepted at `now`. It is refused from the millisecond of its end on.
 */
export function isSessionLive(session: SessionState, now: number): boolean {
  return (
    session.userDisabledAt === null &&
    session.userDeletedAt === null &&
    now - session.lastSeenAt < SESSION_IDLE_MS &&
    now - session.createdAt <
      (session.identityId === null ? SESSION_LIFETIME_MS : IDENTITY_SESSION_MS)
  );
}

/** Returns true if a session's use at `now` should be written, given the last one written. */
export function isTouchDue(lastSeenAt: number, now: number): boolean {
  return now - lastSeenAt >= TOUCH_INTERVAL_MS;
}

/** Returns true if a one-time link or a step has not ended. It is refused from the millisecond of its end on. */
export function isUnexpired({ expiresAt }: { expiresAt: number }, now: number): boolean {
  return now < expiresAt;
}

/** Returns true if users with a role need a second factor. `from` is the lowest role that does. */
export function needsSecondFactor(from: Role | "none", role: Role): boolean {
  return from !== "none" && roleAllows(role, from);
}

/** Time after which failed sign-ins are forgotten. */
export const FAILURES_KEPT_MS = 15 * MINUTE_MS;

const FAILURES_BEFORE_DELAY = 3;

const LONGEST_DELAY_MS = 30 * SECOND_MS;

/**
 * Returns the wait after failed attempts on an account: none for the first two, then 1 s, 2 s, 4 s,
 * … up to 30 s.
 */
export function loginDelayMs(failures: number): number {
  if (failures < FAILURES_BEFORE_DELAY) return 0;
  return Math.min(LONGEST_DELAY_MS, SECOND_MS * 2 ** (failures - FAILURES_BEFORE_DELAY));
}

/** Returns true if a public address is HTTPS. Its sessions are then accepted only over HTTPS. */
export function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}
