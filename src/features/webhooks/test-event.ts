import type { Tx } from "../../db";
import { conflict } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { findDefaultPage } from "../pages";
import { nameInWords, type Services } from "./changes";
import type { DeliveryRecord } from "./deliveries";
import { queueTestEvent } from "./enqueue";
import { findDeliveryOfEvent } from "./log-store";
import { presentWebhook } from "./model";
import { getWebhookRecord } from "./records";

/**
 * Tries an endpoint out with an event that is for it alone, whatever it listens to. Answers what is on
 * its way. Throws `not_found`, or `conflict` for one that is disabled.
 */
export function sendTestEvent(ctx: Services, tx: Tx, id: string, actor: Actor): DeliveryRecord {
  const record = getWebhookRecord(tx, id, ctx.clock.now());
  const { row } = record;
  if (!row.enabled) throw conflict("The webhook is disabled. Enable it first.");
  // Those who read what arrives need not know where it was sent, or with what.
  const { ref, description, events, page, page_id, format, version } = presentWebhook(record);
  const event = ctx.outbox.record(tx, {
    type: "webhook.test",
    // One of all pages is tried out in the name of the default page.
    pageId: row.pageId ?? findDefaultPage(tx, {})?.id ?? null,
    subjectId: id,
    data: { id, ref, description, events, page, page_id, format, version },
  });
  audit(ctx, tx, actor, "webhook.test", id, `Sent a test to ${nameInWords(row)}`);
  queueTestEvent(ctx, tx, event);
  const delivery = findDeliveryOfEvent(tx, { webhookId: id, eventId: event.id });
  if (!delivery) throw new Error("the test event was not queued");
  return delivery;
}
