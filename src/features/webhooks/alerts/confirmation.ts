import type { AppContext } from "../../../context";
import type { Tx } from "../../../db";
import { type MailAddress, parseMailAddress } from "../../../domain/mail-address";
import { Problem } from "../../../errors";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../kernel/time";
import {
  addressHmac,
  enqueueMails,
  ensureMailKey,
  findSuppression,
  hasStoppedAlerts,
  listMailsAbout,
} from "../../mail";
import { parseMailto } from "../recipient";
import type { WebhookRow } from "../store";

export const CONFIRMATION_TEMPLATE = "alert_confirmation";

/** Subject of all these mails in the queue, by which they are counted. */
const SUBJECT = "alert_confirmations";

/** Limits of these mails: of the installation, and to one recipient. */
const PER_HOUR = 20;
const PER_DAY = 100;
const RECIPIENT_PER_DAY = 3;
const RECIPIENT_WAIT_MS = 10 * MINUTE_MS;

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
  if (hasStoppedAlerts(tx, hmac)) return false;
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
