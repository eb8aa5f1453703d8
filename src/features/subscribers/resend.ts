import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { maskAddress } from "../../base/mail-address";
import { notFound, Problem } from "../../base/errors";
import { audit } from "../../events/audit";
import { DAY_MS } from "../../base/time";
import { enqueueMails } from "../mail/queue";
import { findSuppression } from "../mail/suppressions";
import { findPage } from "../pages/store";
import { findLastCopy, findMailToResend } from "./mail-store";
import type { SubscriberRow } from "./store";

/** Time within which a mail that is sent again must begin. */
const RESENT_WITHIN_MS = DAY_MS;

/**
 * Queues a new mail of the mailing to which a subscriber's mail belongs, and returns its id. Receivers drop
 * repeated ones, so it has a `Message-ID` of its own. Throws `conflict` if it would not be sent.
 */
export function resendMail(
  ctx: Ctx,
  tx: Tx,
  subscriber: SubscriberRow,
  mailId: string,
  actor: Actor,
): string {
  const { id: subscriberId, pageId, address, domain, addressHmac } = subscriber;
  const mail = findMailToResend(tx, { id: mailId, subscriberId });
  if (!mail) throw notFound("mail");
  const { mailingId, subjectId, template, params } = mail;
  if (mailingId === null) {
    throw new Problem("conflict", "Only messages about events can be sent again.");
  }
  if (subscriber.status !== "active" || address === null) {
    throw new Problem("conflict", "The subscription has ended, so nothing is sent.");
  }
  const stop = findSuppression(tx, { addressHmac, pageId, kind: "mailing" });
  if (stop) throw new Problem("conflict", "The address is suppressed, so nothing is sent.");
  if (findPage(tx, { id: pageId })?.visibility !== "public") {
    throw new Problem("conflict", "The page is not public, so nothing is sent.");
  }
  if (mail.mailingState === "held" || mail.mailingState === "stopped") {
    throw new Problem("conflict", `The mailing is ${mail.mailingState}, so nothing of it is sent.`);
  }
  if (mail.status === "superseded") {
    throw new Problem("conflict", "A newer message contains what this one said.");
  }
  if (mail.eventId === null) {
    throw new Problem("conflict", "The event of the message is no longer stored.");
  }
  const last = findLastCopy(tx, { mailingId, subscriberId });
  if (mail.status === "pending" || last?.status === "pending") {
    throw new Problem("conflict", "The message is already waiting to be sent.");
  }
  const [id = ""] = enqueueMails(ctx, tx, [
    {
      class: 3,
      recipient: { address, domain },
      subjectId,
      template,
      params,
      subscriberId,
      mailingId,
      copy: (last?.copy ?? 0) + 1,
      expiresAt: ctx.clock.now() + RESENT_WITHIN_MS,
    },
  ]);
  const summary = `Sent a message to ${maskAddress(address)} again`;
  audit(ctx, tx, actor, "mailing.resend", mailingId, summary);
  return id;
}
