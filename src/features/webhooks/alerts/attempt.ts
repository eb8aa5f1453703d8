import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { ALERT_TEMPLATE } from "../../../base/mail-address";
import { DAY_MS } from "../../../base/time";
import { addressHmac, findMailKey } from "../../mail/tokens";
import { deleteCancelledMail } from "../../mail/direct-store";
import { findMail, type MailRow } from "../../mail/queue-store";
import { findSuppression } from "../../mail/suppressions";
import { queueDirectly } from "../../mail/direct-mails";
import { withoutAddresses } from "../../mail/smtp/reply";
import { QueueChanges } from "../../outgoing/queue-changes";
import type { NoTry, TryResult } from "../deliver/try-result";
import { type Outgoing, writeMessage } from "../deliver/message";
import type { DeliveryRow } from "../delivery-store";
import { groupOf } from "../deliver/groups";
import { parseMailto, recipientKeyOf } from "../recipient";
import type { WebhookRow } from "../store";
import { alertMailId } from "./mail-id";
import { isOpenToEvents } from "./receivers";

/** Time after which an alert that could not be sent is given up. */
const LIFE_MS = DAY_MS;

/** Time for which all alerts must have failed before an uncertain refusal of the address disables its endpoint. */
const UNCERTAIN_MS = DAY_MS;

const REPLY = /^(\d{3})(?: ([245]\.\d{1,3}\.\d{1,3})(?= |$))?/;

/** Parts of a result without an answer of the relay. */
const NO_ANSWER = { statusCode: null, answer: null };

/** Delivery to an address, with its parts. */
interface MailDelivery extends Outgoing {
  delivery: DeliveryRow;
  webhook: WebhookRow;
}

/**
 * Creates the function that attempts deliveries by mail. It queues a mail and returns `awaits_mail`. Once that
 * has ended, the next call returns its result.
 */
export function createMailAttempt(
  ctx: Ctx,
): (outgoing: MailDelivery) => Promise<TryResult | NoTry> {
  const changes = new QueueChanges(ctx, "an alert could not be queued", () => undefined);

  return async (outgoing) => {
    const { delivery, event, gathered, webhook } = outgoing;
    if (!isOpenToEvents(ctx.db, webhook)) return "no_message";
    const id = alertMailId(delivery);
    const groupId = groupOf(delivery);
    const mail = findMail(ctx.db, { id });
    if (mail?.status === "pending") return "awaits_mail";
    const recipient = parseMailto(webhook.url);
    const isForFormerAddress =
      mail?.status === "cancelled" &&
      !("error" in recipient) &&
      mail.recipient !== recipient.address;
    if (mail && !isForFormerAddress && mail.params["try"] === delivery.tries) {
      return resultOf(ctx.db, webhook, mail);
    }
    const at = ctx.clock.now();
    try {
      if ("error" in recipient || !writeMessage(ctx, outgoing)) return "no_message";
    } catch (error) {
      ctx.log.error({ err: error, delivery: delivery.id }, "an alert could not be written");
      return { ...NO_ANSWER, at, latencyMs: 0, error: "The message could not be written." };
    }
    const isQueued = await changes.run((tx) => {
      if (isForFormerAddress) deleteCancelledMail(tx, { id });
      queueDirectly(ctx, tx, {
        id,
        class: 2,
        recipient,
        // Mails about one object are a thread.
        subjectId: gathered ? (groupId ?? delivery.id) : event.subjectId,
        template: ALERT_TEMPLATE,
        params: { delivery_id: delivery.id, group_id: groupId, try: delivery.tries, at },
        expiresAt: at + LIFE_MS,
      });
      return true;
    });
    return isQueued === true ? "awaits_mail" : "local_fault";
  };
}

/** Returns the result of a mail that has ended. */
function resultOf(reader: Reader, webhook: WebhookRow, mail: MailRow): TryResult | NoTry {
  const begunAt = Number(mail.params["at"]);
  const latencyMs = Math.max(0, (mail.finishedAt ?? begunAt) - begunAt);
  const result = { at: begunAt, latencyMs, answer: null };
  const words = mail.reply ?? "";
  const [, code, enhanced] = REPLY.exec(words) ?? [];
  const statusCode = code === undefined ? null : Number(code);
  switch (mail.status) {
    case "sent":
      return { ...result, statusCode, error: null, answer: words };
    case "failed":
    case "bounced": {
      const isFinal = statusCode !== null && statusCode >= 500;
      const isBounced = mail.status === "bounced";
      const isCertain =
        enhanced !== undefined ||
        (webhook.failingSince !== null && begunAt - webhook.failingSince >= UNCERTAIN_MS);
      const reason = `The relay refused the address: ${withoutAddresses(words)}`;
      return {
        ...result,
        statusCode,
        error: words,
        ...(isFinal && { permanent: isBounced && isCertain ? { reason } : {} }),
      };
    }
    case "expired": {
      const error = "The mail could not be sent within 24 hours.";
      return { ...result, statusCode: null, error, permanent: {} };
    }
    default: {
      const reason = suppressionOf(reader, webhook);
      if (reason === undefined) return "no_message";
      return { ...result, statusCode: null, error: reason, permanent: { reason } };
    }
  }
}

/** Returns the reason for which an address gets no alerts, as a sentence. */
function suppressionOf(reader: Reader, { url }: WebhookRow): string | undefined {
  const key = findMailKey(reader);
  if (!key) return undefined;
  const hmac = addressHmac(key, recipientKeyOf(url));
  const found = findSuppression(reader, { addressHmac: hmac, pageId: null, kind: "alert" });
  return found && `Mail to the address is suppressed (${found.reason}).`;
}
