import type { SuppressionReason } from "../../base/mail-address";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";
import { longestSpread, spreadWait } from "../sending/rules";
import type { Reply } from "./reply";

/** Waits after each try that the relay refused for now. A mail refused after the last one has failed. */
const RETRY_WAITS_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
];

/** Longest wait before a retry. */
export const LONGEST_WAIT_MS = longestSpread(8 * HOUR_MS);

const FIRST_RELAY_WAIT_MS = 5 * SECOND_MS;

const LONGEST_RELAY_WAIT_MS = 5 * MINUTE_MS;

/** Returns the wait while the relay is unavailable, or breaks off at a mail: doubles up to the longest. */
export function relayWaitMs(failuresBefore: number): number {
  return Math.min(FIRST_RELAY_WAIT_MS * 2 ** failuresBefore, LONGEST_RELAY_WAIT_MS);
}

const NOT_AVAILABLE = 421;

/** Enhanced codes by which a recipient does not exist. */
const NO_SUCH_ADDRESS: ReadonlySet<string | null> = new Set([
  "5.1.1",
  "5.1.2",
  "5.1.3",
  "5.1.6",
  "5.1.10",
  "5.2.1",
]);

/** Codes by which a recipient may not exist, without an enhanced code. */
const MAYBE_NO_SUCH_ADDRESS: ReadonlySet<number> = new Set([550, 551, 553]);

/** True for an enhanced code by which a recipient does not exist. */
export function isUnknownAddress(enhanced: string): boolean {
  return NO_SUCH_ADDRESS.has(enhanced);
}

/** True for a reply code by which a recipient may not exist, without an enhanced code. */
export function maybeUnknownAddress(code: number): boolean {
  return MAYBE_NO_SUCH_ADDRESS.has(code);
}

/** Meaning of a reply. */
type ReplyMeaning =
  /** The relay has the mail. */
  | { result: "sent" }
  /** Refused for now. */
  | { result: "retry" }
  /** The address does not exist. Without certainty, only the second such reply suppresses it. */
  | { result: "bounced"; isCertain: boolean }
  /** Refused for another reason, mostly about the sender or the content. */
  | { result: "failed" }
  /** Not about this mail: no mail can be sent. */
  | { result: "relay_unavailable" };

/** Returns the meaning of the last reply to a mail, or to the attempt to connect. */
export function classifyReply({ stage, code, enhanced }: Reply): ReplyMeaning {
  if (code === null || code === NOT_AVAILABLE) return { result: "relay_unavailable" };
  const isAboutMail = stage === "rcpt" || stage === "data" || stage === "message";
  if (!isAboutMail) return { result: "relay_unavailable" };
  if (code >= 200 && code < 300 && stage === "message") return { result: "sent" };
  if (code >= 400 && code < 500) return { result: "retry" };
  if (code < 500 || code >= 600) return { result: "relay_unavailable" };
  if (stage === "rcpt" && NO_SUCH_ADDRESS.has(enhanced)) {
    return { result: "bounced", isCertain: true };
  }
  if (stage === "rcpt" && enhanced === null && MAYBE_NO_SUCH_ADDRESS.has(code)) {
    return { result: "bounced", isCertain: false };
  }
  return { result: "failed" };
}

/** Returns the wait after a refusal for now; undefined if the mail has failed. `chance` is from 0 to 1. */
export function retryWaitMs(triesBefore: number, chance: number): number | undefined {
  const wait = RETRY_WAITS_MS[triesBefore];
  return wait === undefined ? undefined : spreadWait(wait, chance);
}

/** Tokens of a rate, and the moment (monotonic ms) at which they were counted. */
export interface RateState {
  tokens: number;
  at: number;
}

/** Number of mails that may start at once: those of ten seconds. */
function roomOf(perMinute: number): number {
  return Math.max(1, perMinute / 6);
}

/** Returns a full bucket. */
export function fullRate(perMinute: number, now: number): RateState {
  return { tokens: roomOf(perMinute), at: now };
}

/** Returns the tokens at a later moment. */
export function refilledRate({ tokens, at }: RateState, perMinute: number, now: number): RateState {
  const added = (Math.max(0, now - at) * perMinute) / MINUTE_MS;
  return { tokens: Math.min(roomOf(perMinute), tokens + added), at: now };
}

/** Returns the wait in ms until one mail may start. */
export function rateWaitMs({ tokens }: RateState, perMinute: number): number {
  return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * MINUTE_MS) / perMinute);
}

/** Number of connections for mails of mailings: one is always left to the other classes. */
export function mailingConnections(connections: number): number {
  return Math.max(1, connections - 1);
}

/** Number of connections to one domain while others wait. */
export function domainShare(connections: number): number {
  return Math.max(1, Math.floor(connections / 2));
}

/** Number of soft failures and the time between the first and the last, from which an address is suppressed. */
const SOFT_FAILURES = 3;

const SOFT_FAILURES_OVER_MS = 7 * DAY_MS;

/** True if an address with so many final failures since its last success is suppressed. */
export function isSoftBounce(failures: number, firstAt: number, now: number): boolean {
  return failures >= SOFT_FAILURES && now - firstAt >= SOFT_FAILURES_OVER_MS;
}

const SECOND_BOUNCE_AFTER_MS = DAY_MS;

/** True if an uncertain bounce suppresses the address. `firstAt` is the time of the first one. */
export function isSecondBounce(firstAt: number | null, now: number): boolean {
  return firstAt !== null && now - firstAt >= SECOND_BOUNCE_AFTER_MS;
}

/** Kind of mail, by which suppressions count. */
export type MailKind =
  /** To the subscribers of a page. */
  | "mailing"
  /** Alerts and warnings to the team. */
  | "alert"
  /** Answer to a sign-up. */
  | "confirmation"
  /** Invitations, resets and tests. They are sent regardless. */
  | "account";

const STOPPED_BY: Readonly<Record<SuppressionReason, readonly MailKind[]>> = {
  bounced: ["mailing", "alert"],
  soft: ["mailing", "alert"],
  complained: ["mailing", "alert"],
  unsubscribed: ["mailing"],
  declined: ["mailing", "confirmation"],
  blocked: ["mailing", "alert", "confirmation"],
  erased: [],
};

/** True if a suppression stops mails of a kind. */
export function isStoppedBy(reason: SuppressionReason, kind: MailKind): boolean {
  return STOPPED_BY[reason].includes(kind);
}

/** Reasons that end when a person confirms a subscription. `unsubscribed` ends for that page. */
export const ENDED_BY_CONFIRMING: readonly SuppressionReason[] = [
  "bounced",
  "soft",
  "complained",
  "unsubscribed",
];

/** Number of results of mailings that are compared, and of failures among them that hold all mailings. */
const COMPARED_RESULTS = 100;

const FAILURES_MAX = 20;

/** Recent results of mailings. */
export class FailureWindow {
  #results: { isFailure: boolean; at: number }[] = [];

  /** Time (unix ms) of the oldest result that is compared; undefined without results. */
  get since(): number | undefined {
    return this.#results[0]?.at;
  }

  /** Adds a result. Returns true if more than 20 of the last 100 are failures. */
  add(isFailure: boolean, at: number): boolean {
    this.#results.push({ isFailure, at });
    if (this.#results.length > COMPARED_RESULTS) this.#results.shift();
    return this.#results.filter((result) => result.isFailure).length > FAILURES_MAX;
  }

  clear(): void {
    this.#results = [];
  }
}
