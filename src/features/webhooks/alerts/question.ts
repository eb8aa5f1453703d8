import type { Reader } from "../../../db/statements";
import type { SuppressionReason } from "../../../base/mail-address";
import { toIso } from "../../../base/time";
import { addressHmac, findMailKey } from "../../mail/tokens";
import { findSuppression } from "../../mail/suppressions";
import { hasStoppedAlerts } from "../../mail/alert-stop-store";
import { withoutAddresses } from "../../mail/smtp/reply";
import { recipientKeyOf } from "../recipient";
import type { WebhookRow } from "../store";
import { findNewestQuestion } from "./question-store";
import { LINK_MS } from "./answer";
import { CONFIRMATION_SUBJECT } from "./confirmation";
import { isOpenToEvents } from "./receivers";

/** State of the question if an address wants alerts. Times are unix ms. */
export type Question =
  /** It is not asked: its owner stopped alerts or declined, or an admin blocked it. */
  | { state: "refused"; reason: SuppressionReason }
  /** No mail with a link is stored: none was queued, or long ago. */
  | { state: "unasked" }
  | { state: "waiting"; dueAt: number }
  | { state: "asked"; sentAt: number; endsAt: number }
  | { state: "failed"; reply: string | null };

/** Returns the state of the question to the address of an endpoint; undefined if it needs no answer. */
export function findQuestion(reader: Reader, row: WebhookRow): Question | undefined {
  if (isOpenToEvents(reader, row)) return undefined;
  const recipient = recipientKeyOf(row.url);
  const reason = refusalOf(reader, recipient);
  if (reason !== undefined) return { state: "refused", reason };
  const mail = findNewestQuestion(reader, { subjectId: CONFIRMATION_SUBJECT, recipient });
  if (!mail) return { state: "unasked" };
  const { status, dueAt, finishedAt, reply } = mail;
  if (status === "pending") return { state: "waiting", dueAt };
  if (status !== "sent" || finishedAt === null) {
    return { state: "failed", reply: reply === null ? null : withoutAddresses(reply) };
  }
  return { state: "asked", sentAt: finishedAt, endsAt: finishedAt + LINK_MS };
}

function refusalOf(reader: Reader, recipient: string): SuppressionReason | undefined {
  const key = findMailKey(reader);
  if (!key) return undefined;
  const mark = addressHmac(key, recipient);
  if (hasStoppedAlerts(reader, mark)) return "unsubscribed";
  return findSuppression(reader, { addressHmac: mark, pageId: null, kind: "confirmation" })?.reason;
}

/** Describes the state of a question in sentences that follow the name of an endpoint. */
export function describeQuestion(question: Question, now: number): string {
  switch (question.state) {
    case "refused":
      return question.reason === "blocked"
        ? "No link is mailed to the address, because an admin blocked it."
        : "No link is mailed to the address, because its owner stopped alerts or declined.";
    case "unasked":
      return "No link was mailed to the address.";
    case "waiting":
      return question.dueAt > now
        ? `A link for the address is mailed at ${minuteOf(question.dueAt)}, because many others are asked too.`
        : "A link for the address waits to be mailed.";
    case "asked":
      return question.endsAt > now
        ? `A link was mailed to the address at ${minuteOf(question.sentAt)} and works for 7 days.`
        : `The link that was mailed to the address at ${minuteOf(question.sentAt)} has expired.`;
    case "failed":
      return question.reply === null
        ? "The last link could not be mailed to the address."
        : `The last link could not be mailed to the address: ${question.reply}.`;
  }
}

/** Returns a time such as "2026-07-30 14:05 UTC". */
function minuteOf(at: number): string {
  return `${toIso(at).slice(0, 16).replace("T", " ")} UTC`;
}
