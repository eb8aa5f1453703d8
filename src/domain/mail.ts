/** Events that a subscriber chooses by kind. */
export const SUBSCRIBER_EVENTS = ["incidents", "maintenance", "status"] as const;
export type SubscriberEvent = (typeof SUBSCRIBER_EVENTS)[number];

/** `page`: everything about the page; `selection`: the chosen components and groups. */
export type SubscriberScope = "page" | "selection";

/** Origin of a subscriber's consent. */
export type ConsentSource = "form" | "dashboard" | "command" | "import";

/**
 * State of a sign-up: not looked at; a mail was queued; none will be; confirmed; void because another request
 * of the address was confirmed, or the subscription has ended; declined by the person.
 */
export type MailRequestState = "waiting" | "sent" | "unsent" | "confirmed" | "void" | "declined";

/** `1`: mail of an account or a sign-up; `2`: to the team; `3`: of a mailing. Sent in this order. */
export type MailClass = 1 | 2 | 3;

/** Template of alerts. Each is sent once; the delivery that it belongs to decides about another try. */
export const ALERT_TEMPLATE = "alert";

export type MailStatus =
  "pending" | "sent" | "bounced" | "failed" | "superseded" | "cancelled" | "expired";

export type MailingState = "expanding" | "sending" | "held" | "done" | "stopped";

/** Reasons for which an address gets no mail of a kind. `erased` stops nothing. */
export const SUPPRESSION_REASONS = [
  "bounced",
  "soft",
  "complained",
  "unsubscribed",
  "declined",
  "blocked",
  "erased",
] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** Name of the setting with the last holds of all mailings. */
export const MAIL_HOLDS_SETTING = "mail_holds";

/**
 * Reason for which all mailings are held: too many of their mails failed, or a restore could not read who left
 * since the backup.
 */
type HoldReason = "failures" | "restore";

/** Hold of all mailings. Other mails are sent. Times are in unix ms. */
export interface MailHold {
  reason: HoldReason;
  at: number;
  /** Time of the oldest result that led to it. */
  since: number;
  /** Null until an admin goes on. */
  endedAt: number | null;
}

/** Settings of a page about e-mail. Names as in the API. */
export interface PageMailSettings {
  /** False if visitors cannot subscribe. */
  subscriptions: boolean;
  /** Name of the sender; null for the name of the page. */
  from_name: string | null;
  reply_to: string | null;
  /** `thread`: mails of one incident have the same subject; `status`: the subject begins with the status. */
  subject: "thread" | "status";
  /** Plain text at the end of each mail, such as a legal address. */
  footer: string | null;
}
