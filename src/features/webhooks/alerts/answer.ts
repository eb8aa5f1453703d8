import type { Ctx } from "../../../context";
import { changedRow, type Reader, type Tx } from "../../../db/statements";
import { SYSTEM_ACTOR } from "../../../base/actor";
import { Problem } from "../../../base/errors";
import { audit } from "../../../events/audit";
import { DAY_MS } from "../../../base/time";
import {
  addressHmac,
  ensureMailKey,
  findMailKey,
  isTokenOf,
  subjectOfToken,
} from "../../mail/tokens";
import { ALERTS_AS_PAGE, hasStoppedAlerts } from "../../mail/alert-stop-store";
import { ENDED_BY_CONFIRMING } from "../../mail/rules";
import { endSuppressions, suppress } from "../../mail/suppressions";
import { findMail, type MailRow } from "../../mail/queue-store";
import { nameInWords } from "../changes";
import { updateWebhookRow, type WebhookRow } from "../store";
import { CONFIRMATION_TEMPLATE } from "./confirmation";
import { isOpenToEvents, listWebhooksTo } from "./receivers";

/** Time for which a link works once it was sent. */
export const LINK_MS = 7 * DAY_MS;

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
