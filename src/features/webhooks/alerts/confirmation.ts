import { SYSTEM_ACTOR } from "../../../base/actor";
import { Problem } from "../../../base/errors";
import {
  type MailAddress,
  parseMailAddress,
  type SuppressionReason,
} from "../../../base/mail-address";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import { changedRow, type Reader, type Tx } from "../../../db/statements";
import { audit } from "../../../events/audit";
import { ALERTS_AS_PAGE, hasStoppedAlerts } from "../../mail/alert-stop-store";
import { enqueueMails } from "../../mail/mail";
import { withoutAddresses } from "../../mail/reply";
import { ENDED_BY_CONFIRMING } from "../../mail/rules";
import { findMail, type MailRow } from "../../mail/store";
import { endSuppressions, findSuppression, suppress } from "../../mail/suppressions";
import {
  addressHmac,
  ensureMailKey,
  findMailKey,
  isTokenOf,
  subjectOfToken,
} from "../../mail/tokens";
import { isOpenToEvents, listWebhooksTo, parseMailto, recipientKeyOf } from "../recipient";
import { nameInWords } from "../records";
import { findNewestQuestion, listQuestions, updateWebhookRow, type WebhookRow } from "../store";

export const CONFIRMATION_TEMPLATE = "alert_confirmation";

/** Subject of all these mails in the queue, by which they are counted. */
const CONFIRMATION_SUBJECT = "alert_confirmations";

/** Limits of these mails: of the installation, and to one recipient. */
const PER_HOUR = 20;
const PER_DAY = 100;
const RECIPIENT_PER_DAY = 3;
const RECIPIENT_WAIT_MS = 10 * MINUTE_MS;

/** Longest time by which a mail beyond the limits of the installation is put off. */
const PUT_OFF_MAX_MS = DAY_MS;
/** Number of mails that the limits count: those of the last day, and those that are put off. */
const COUNTED = PER_DAY * 2;

/**
 * Queues a mail with a link by which the address of an endpoint confirms that it wants alerts, and returns the
 * time at which it is due (unix ms): later than now beyond the limits of the installation. Returns undefined if
 * none is queued, because the address got one in the last 10 minutes or three today, wants none, or would wait
 * longer than a day.
 */
export function mailConfirmation(ctx: Ctx, tx: Tx, row: WebhookRow): number | undefined {
  const recipient = parseMailto(row.url);
  if ("error" in recipient) return undefined;
  const now = ctx.clock.now();
  if (!isWelcome(tx, addressHmac(ensureMailKey(ctx, tx), recipient.key))) return undefined;
  const dueAt = nextTime(tx, recipient, now);
  if (dueAt === undefined) return undefined;
  enqueueMails(ctx, tx, [
    {
      class: 1,
      recipient,
      subjectId: CONFIRMATION_SUBJECT,
      template: CONFIRMATION_TEMPLATE,
      params: { webhook_id: row.id, due_at: dueAt },
      dueAt,
      expiresAt: dueAt + DAY_MS,
    },
  ]);
  return dueAt;
}

/** True if a mail that asks for a confirmation is still wanted when it is sent. */
export function isStillAsked(reader: Reader, recipient: string, mark: string): boolean {
  const webhooks = listWebhooksTo(reader, recipient);
  return isWelcome(reader, mark) && webhooks.some((row) => !isOpenToEvents(reader, row));
}

/** True if the owner of an address can be asked to confirm alerts. */
function isWelcome(reader: Reader, mark: string): boolean {
  const about = { addressHmac: mark, pageId: null, kind: "confirmation" } as const;
  return !findSuppression(reader, about) && !hasStoppedAlerts(reader, mark);
}

/** Returns the first time at which another mail may go to a recipient; undefined for none within a day. */
function nextTime(reader: Reader, { throttleKey }: MailAddress, now: number): number | undefined {
  const earlier = listQuestions(reader, { subjectId: CONFIRMATION_SUBJECT, limit: COUNTED });
  const own = earlier.filter(({ recipient, dueAt }) => {
    const address = parseMailAddress(recipient);
    return dueAt > now - DAY_MS && !("error" in address) && address.throttleKey === throttleKey;
  });
  const isRecent = own.some(({ dueAt }) => dueAt > now - RECIPIENT_WAIT_MS);
  if (isRecent || own.length >= RECIPIENT_PER_DAY) return undefined;
  // The due times descend, since none is earlier than that of an earlier mail.
  const oldestOf = (count: number) => earlier[count - 1]?.dueAt ?? 0;
  const dueAt = Math.max(now, oldestOf(PER_HOUR) + HOUR_MS, oldestOf(PER_DAY) + DAY_MS);
  return dueAt - now <= PUT_OFF_MAX_MS ? dueAt : undefined;
}

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

/** Time for which a link works once it was sent. */
const LINK_MS = 7 * DAY_MS;

/** Address that a link asks to confirm, with its endpoints. */
interface AlertLink {
  mail: MailRow;
  webhooks: readonly WebhookRow[];
  /** True if all endpoints send alerts to the address. */
  isOn: boolean;
}

/** Circumstances of a request for a link. */
interface LinkUse {
  /** Page whose custom domain the request was sent to; undefined on every other host. */
  domain: object | undefined;
  /** Unix ms. */
  now: number;
}

/** Returns the address of a link in a confirmation mail. Throws `not_found`. */
export function openAlertLink(reader: Reader, token: string, { domain, now }: LinkUse): AlertLink {
  const id = subjectOfToken(token);
  const key = id?.startsWith("eml_") ? findMailKey(reader) : undefined;
  // Links for the team are on the public address alone.
  const isRight = id !== undefined && key && !domain && isTokenOf(key, "alerts", { id }, token);
  const mail = isRight ? findMail(reader, { id }) : undefined;
  const isOpen =
    mail?.template === CONFIRMATION_TEMPLATE && now < (mail.finishedAt ?? mail.createdAt) + LINK_MS;
  const webhooks = isOpen ? listWebhooksTo(reader, mail.recipient) : [];
  if (!mail || webhooks.length === 0) {
    throw new Problem("not_found", "This link is unknown, has expired or was replaced.");
  }
  return { mail, webhooks, isOn: webhooks.every((row) => isOpenToEvents(reader, row)) };
}

/** Lets all endpoints of the address send alerts, as the person wants. */
export function confirmAlerts(ctx: Ctx, tx: Tx, { mail, webhooks }: AlertLink): void {
  for (const row of webhooks.filter(({ confirmedAt }) => confirmedAt === null)) {
    updateWebhookRow(tx, { ...changedRow(ctx, row), confirmedAt: ctx.clock.now() });
    const summary = `The address of ${nameInWords(row)} confirmed`;
    audit(ctx, tx, SYSTEM_ACTOR, "webhook.update", row.id, summary);
  }
  endSuppressions(tx, markOf(ctx, tx, mail), ENDED_BY_CONFIRMING, ALERTS_AS_PAGE);
}

/**
 * Ends alerts to the address, also those of its user, and mails that ask it for a confirmation. Subscriptions
 * of the address to pages stay.
 */
export function declineAlerts(ctx: Ctx, tx: Tx, { mail, webhooks }: AlertLink): void {
  const mark = markOf(ctx, tx, mail);
  if (hasStoppedAlerts(tx, mark)) return;
  const cause = { reason: "unsubscribed", pageId: ALERTS_AS_PAGE, mailId: mail.id } as const;
  suppress(ctx, tx, { addressHmac: mark, ...cause });
  for (const row of webhooks) {
    if (row.confirmedAt !== null) {
      updateWebhookRow(tx, { ...changedRow(ctx, row), confirmedAt: null });
    }
    const summary = `The address of ${nameInWords(row)} declined`;
    audit(ctx, tx, SYSTEM_ACTOR, "webhook.update", row.id, summary);
  }
}

function markOf(ctx: Ctx, tx: Tx, { recipient }: MailRow): string {
  return addressHmac(ensureMailKey(ctx, tx), recipient.toLowerCase());
}
