import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../kernel/time";

/** A session that was not used for this long is dead. */
export const SESSION_IDLE_MS = DAY_MS;
/** A session that was started this long ago is dead, however busy. */
export const SESSION_LIFETIME_MS = 14 * DAY_MS;
/** A session's last use is written at most this often. */
const TOUCH_INTERVAL_MS = MINUTE_MS;

/** What of a session and of its user decides whether it opens anything. Times in unix ms. */
interface SessionState {
  createdAt: number;
  lastSeenAt: number;
  userDisabledAt: number | null;
  userDeletedAt: number | null;
}

/** Whether a session opens anything at this moment. It is dead from the very millisecond of its end. */
export function isSessionLive(session: SessionState, now: number): boolean {
  return (
    session.userDisabledAt === null &&
    session.userDeletedAt === null &&
    now - session.lastSeenAt < SESSION_IDLE_MS &&
    now - session.createdAt < SESSION_LIFETIME_MS
  );
}

/** Whether a session's use at `now` is to be written, when `lastSeenAt` is what is written already. */
export function isTouchDue(lastSeenAt: number, now: number): boolean {
  return now - lastSeenAt >= TOUCH_INTERVAL_MS;
}

/** Whether a link that works once still works. It is dead from the very millisecond of its end. */
export function isLinkLive(link: { expiresAt: number }, now: number): boolean {
  return now < link.expiresAt;
}

/** Failures in sign-in are forgotten this long after the last one. */
export const FAILURES_KEPT_MS = 15 * MINUTE_MS;

const FAILURES_BEFORE_DELAY = 3;
const LONGEST_DELAY_MS = 30 * SECOND_MS;

/**
 * How long whoever has failed on an account waits before the next attempt, after so many failures on
 * it: not at all for the first two, then 1 s, 2 s, 4 s, … and never more than 30 s.
 */
export function loginDelayMs(failures: number): number {
  if (failures < FAILURES_BEFORE_DELAY) return 0;
  return Math.min(LONGEST_DELAY_MS, SECOND_MS * 2 ** (failures - FAILURES_BEFORE_DELAY));
}
