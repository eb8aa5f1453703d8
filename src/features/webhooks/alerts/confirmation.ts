import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { type MailAddress, parseMailAddress } from "../../../base/mail-address";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time";
import { addressHmac, ensureMailKey } from "../../mail/tokens";
import { enqueueMails } from "../../mail/queue";
import { findSuppression } from "../../mail/suppressions";
import { hasStoppedAlerts } from "../../mail/alert-stop-store";
import { parseMailto } from "../recipient";
import type { WebhookRow } from "../store";
import { listQuestions } from "./question-store";
import { isOpenToEvents, listWebhooksTo } from "./receivers";

export const CONFIRMATION_TEMPLATE = "alert_confirmation";

/** Subject of all these mails in the queue, by which they are counted. */
export const CONFIRMATION_SUBJECT = "alert_confirmations";

/** Limits of these mails: of the installation, and to one recipient. */
export const PER_HOUR = 20;
export const PER_DAY = 100;
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
