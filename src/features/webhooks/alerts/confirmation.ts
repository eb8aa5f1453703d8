import type { AppContext } from "../../../context";
import { changedRow, type Reader, type Tx } from "../../../db";
import { SYSTEM_ACTOR } from "../../../domain/actor";
import { type MailAddress, parseMailAddress } from "../../../domain/mail-address";
import { Problem } from "../../../errors";
import { audit } from "../../../events";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../kernel/time";
import {
  addressHmac,
  ENDED_BY_CONFIRMING,
  endSuppressions,
  enqueueMails,
  ensureMailKey,
  findMail,
  findMailKey,
  findSuppression,
  isTokenOf,
  listMailsAbout,
  type MailRow,
  subjectOfToken,
  suppress,
} from "../../mail";
import { nameInWords } from "../changes";
import { parseMailto, recipientKeyOf } from "../recipient";
import { listMailWebhooks, updateWebhookRow, type WebhookRow } from "../store";

export const CONFIRMATION_TEMPLATE = "alert_confirmation";

/** Subject of all these mails in the queue, by which they are counted. */
const SUBJECT = "alert_confirmations";

/** Limits of these mails: of the installation, and to one recipient. */
const PER_HOUR = 20;
const PER_DAY = 100;
const RECIPIENT_PER_DAY = 3;
const RECIPIENT_WAIT_MS = 10 * MINUTE_MS;

const LINK_MS = 7 * DAY_MS;

type Services = Pick<AppContext, "clock" | "newId" | "random" | "signals">;

/**
 * Mails a link to the address of an endpoint, by which it confirms that it wants alerts. Returns false if
 * nothing is sent, because the address got such a mail in the last 10 minutes or three today, or wants none.
 * Throws `rate_limited` beyond the limits of the installation.
 */
export function mailConfirmation(ctx: Services, tx: Tx, row: WebhookRow): boolean {
  const recipient = parseMailto(row.url);
  if ("error" in recipient) return false;
  const hmac = addressHmac(ensureMailKey(ctx, tx), recipient.key);
  const kind = "confirmation";
  if (findSuppression(tx, { addressHmac: hmac, pageId: null, kind })) return false;
  if (!charge(tx, recipient, ctx.clock.now())) return false;
  enqueueMails(ctx, tx, [
    {
      class: 1,
      recipient,
      subjectId: SUBJECT,
      template: CONFIRMATION_TEMPLATE,
      params: { webhook_id: row.id },
      expiresAt: ctx.clock.now() + DAY_MS,
    },
  ]);
  return true;
}

/** Returns true if another mail may go to a recipient. */
function charge(tx: Tx, { throttleKey }: MailAddress, now: number): boolean {
  const since = now - DAY_MS;
  const today = listMailsAbout(tx, { subjectId: SUBJECT, template: "", since, limit: PER_DAY });
  const thisHour = today.filter(({ createdAt }) => createdAt > now - HOUR_MS);
  const oldest = today[PER_DAY - 1]?.createdAt ?? thisHour[PER_HOUR - 1]?.createdAt;
  if (oldest !== undefined) {
    const waitMs = oldest + (today.length >= PER_DAY ? DAY_MS : HOUR_MS) - now;
    throw new Problem(
      "rate_limited",
      `At most ${PER_HOUR} confirmations an hour and ${PER_DAY} a day are mailed. Try again later.`,
      { headers: { "Retry-After": String(Math.ceil(waitMs / SECOND_MS)) } },
    );
  }
  const own = today.filter(({ recipient }) => {
    const earlier = parseMailAddress(recipient);
    return !("error" in earlier) && earlier.throttleKey === throttleKey;
  });
  const isRecent = own.some(({ createdAt }) => createdAt > now - RECIPIENT_WAIT_MS);
  return !isRecent && own.length < RECIPIENT_PER_DAY;
}

/** Address that a link asks to confirm, with its endpoints. */
interface AlertLink {
  mail: MailRow;
  webhooks: readonly WebhookRow[];
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
  const isOpen = mail?.template === CONFIRMATION_TEMPLATE && now < mail.createdAt + LINK_MS;
  const webhooks = isOpen ? webhooksTo(reader, mail.recipient) : [];
  if (!mail || webhooks.length === 0) {
    throw new Problem("not_found", "This link is unknown, has expired or was replaced.");
  }
  return { mail, webhooks };
}

function webhooksTo(reader: Reader, recipient: string): WebhookRow[] {
  const key = recipient.toLowerCase();
  return listMailWebhooks(reader, {}).filter(({ url }) => recipientKeyOf(url) === key);
}

/** Lets all endpoints of the address send alerts, as the person wants. */
export function confirmAlerts(
  ctx: Pick<AppContext, "clock" | "newId" | "random">,
  tx: Tx,
  { mail, webhooks }: AlertLink,
): void {
  for (const row of webhooks.filter(({ confirmedAt }) => confirmedAt === null)) {
    updateWebhookRow(tx, { ...changedRow(ctx, row), confirmedAt: ctx.clock.now() });
    const summary = `The address of ${nameInWords(row)} confirmed`;
    audit(ctx, tx, SYSTEM_ACTOR, "webhook.update", row.id, summary);
  }
  const key = addressHmac(ensureMailKey(ctx, tx), mail.recipient.toLowerCase());
  endSuppressions(tx, key, ENDED_BY_CONFIRMING);
}

/** Ends alerts to the address, and mails that ask it for a confirmation. */
export function declineAlerts(
  ctx: Pick<AppContext, "clock" | "newId" | "random">,
  tx: Tx,
  { mail, webhooks }: AlertLink,
): void {
  for (const row of webhooks.filter(({ confirmedAt }) => confirmedAt !== null)) {
    updateWebhookRow(tx, { ...changedRow(ctx, row), confirmedAt: null });
    const summary = `The address of ${nameInWords(row)} declined`;
    audit(ctx, tx, SYSTEM_ACTOR, "webhook.update", row.id, summary);
  }
  const hmac = addressHmac(ensureMailKey(ctx, tx), mail.recipient.toLowerCase());
  suppress(ctx, tx, { addressHmac: hmac, reason: "declined", mailId: mail.id });
}
