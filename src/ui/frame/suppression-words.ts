import type { SuppressionReason } from "../../base/mail-address";

/** Names of the reasons of suppressions, the most important first. */
export const REASON_LABELS: Readonly<Record<SuppressionReason, string>> = {
  blocked: "Blocked",
  complained: "Complained",
  declined: "Declined",
  bounced: "Bounced",
  soft: "Failed repeatedly",
  unsubscribed: "Unsubscribed",
  erased: "Erased",
};

/** Causes of suppressions, as sentences. */
export const REASON_CAUSES: Readonly<Record<SuppressionReason, string>> = {
  blocked: "An admin blocked the address.",
  complained: "The person reported a mail as spam.",
  declined: "The person asked never to get mails about sign-ups.",
  bounced: "A mail server reported that the address does not exist.",
  soft: "Three mails in a row failed, over at least a week.",
  unsubscribed: "The person unsubscribed from a page.",
  erased: "The data of the person was deleted.",
};
