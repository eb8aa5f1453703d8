import type { SuppressionReason } from "../../base/mail-address";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time";

/** Time for which a sign-up can be confirmed. */
export const REQUEST_LIFETIME_MS = 7 * DAY_MS;

interface SignUpLimit {
  count: number;
  windowMs: number;
  text: string;
}

/** Limits of sign-ups from one client. */
export const CLIENT_LIMITS: readonly SignUpLimit[] = [
  { count: 10, windowMs: HOUR_MS, text: "10 sign-ups an hour from this address" },
  { count: 30, windowMs: DAY_MS, text: "30 sign-ups a day from this address" },
];

/** Limits of sign-ups from all clients of one site. */
export const SITE_LIMITS: readonly SignUpLimit[] = [
  { count: 50, windowMs: HOUR_MS, text: "50 sign-ups an hour from this network" },
  { count: 150, windowMs: DAY_MS, text: "150 sign-ups a day from this network" },
];

/** Number of sign-ups an hour that are confirmed by mail, for a page and for the installation. */
export const HOURLY_LIMITS = {
  page: { usual: 1_000, reduced: 100 },
  installation: { usual: 2_000, reduced: 200 },
} as const;

/** Number of sign-ups an hour that the installation stores, with a mail or without. */
export const STORED_HOURLY = 20_000;

/** Number of earlier sign-ups by which it is decided if many are made up. */
export const SAMPLE_SIZE = 200;

const CONFIRMED_SHARE_MIN = 0.05;

/** Limits of sign-up mails to one recipient. */
const RECIPIENT_WAIT_MS = 10 * MINUTE_MS;

const RECIPIENT_DAILY = { page: 3, all: 5 } as const;

/** Waits after which an address gets another mail, if such a mail to it was sent before. */
const WAITS_MS = {
  subscribed: DAY_MS,
  bounced: 7 * DAY_MS,
  complained: 30 * DAY_MS,
} as const;

/** Age from which earlier sign-up mails have no influence. */
export const LONGEST_WAIT_MS = WAITS_MS.complained;

/** Returns the limit of an hour. `confirmed` is the number among `sampled` earlier sign-ups. */
export function hourlyLimit(
  { usual, reduced }: { usual: number; reduced: number },
  { sampled, confirmed }: { sampled: number; confirmed: number },
): number {
  const isSuspicious = sampled >= SAMPLE_SIZE && confirmed / sampled < CONFIRMED_SHARE_MIN;
  return isSuspicious ? reduced : usual;
}

/**
 * Returns the time until a client or site can sign up again, with the limit that is used up; undefined if it can
 * now. `times` are those of its latest sign-ups in unix ms, newest first.
 */
export function clientWait(
  limits: readonly SignUpLimit[],
  times: readonly number[],
  now: number,
): { waitMs: number; text: string } | undefined {
  for (const { count, windowMs, text } of limits) {
    const oldest = times[count - 1];
    if (oldest !== undefined && now - oldest < windowMs) {
      return { waitMs: oldest + windowMs - now, text };
    }
  }
  return undefined;
}

/** Facts about the address of a sign-up. Times are unix ms. */
export interface SignUpFacts {
  isSubscribed: boolean;
  suppressions: readonly SuppressionReason[];
  /** Sign-up mails of the last day to the recipient, whatever its plus-tag: for which page, and when. */
  recent: readonly { pageId: string; at: number }[];
  /** Time of the last sign-up mail to exactly this address, of any page; undefined without one. */
  lastMailAt: number | undefined;
  /** Time of the last "already subscribed" mail of the page to the address; undefined without one. */
  lastReminderAt: number | undefined;
}

export type SignUpMail = "confirmation" | "already_subscribed";

/** Returns the mail that a sign-up on a page gets; undefined for none. */
export function decideSignUp(
  facts: SignUpFacts,
  { pageId, now }: { pageId: string; now: number },
): SignUpMail | undefined {
  const { recent, lastMailAt, lastReminderAt } = facts;
  const isSuppressedAs = (...reasons: SuppressionReason[]) =>
    facts.suppressions.some((reason) => reasons.includes(reason));
  const isWithin = (at: number | undefined, waitMs: number) =>
    at !== undefined && now - at < waitMs;
  if (isSuppressedAs("declined", "blocked")) return undefined;
  if (recent.some(({ at }) => isWithin(at, RECIPIENT_WAIT_MS))) return undefined;
  if (recent.length >= RECIPIENT_DAILY.all) return undefined;
  const ofPage = recent.filter((one) => one.pageId === pageId);
  if (ofPage.length >= RECIPIENT_DAILY.page) return undefined;
  if (isSuppressedAs("complained")) {
    return isWithin(lastMailAt, WAITS_MS.complained) ? undefined : "confirmation";
  }
  if (isSuppressedAs("bounced", "soft")) {
    return isWithin(lastMailAt, WAITS_MS.bounced) ? undefined : "confirmation";
  }
  if (!facts.isSubscribed) return "confirmation";
  return isWithin(lastReminderAt, WAITS_MS.subscribed) ? undefined : "already_subscribed";
}

/** Returns the subject of all sign-up mails to an address, by its mark. */
export function signUpSubject(hmac: string): string {
  return `signup_${hmac}`;
}
