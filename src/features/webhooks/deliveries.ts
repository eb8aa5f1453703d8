import type { Actor } from "../../base/actor";
import { conflict, notFound } from "../../base/errors";
import { plural } from "../../base/text";
import type { DeliveryStatus } from "../../base/webhook";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { headerText } from "../../egress/http-headers";
import { audit } from "../../events/audit";
import { deleteCancelledMail } from "../mail/store";
import { findDefaultPage } from "../pages/store";
import { alertMailId } from "./alerts/alerts";
import { blanked, outgoingOf, type ReadHeadline, secretsIn, writeMessage } from "./deliver/message";
import { findForTry, hasBatches, type TryRow } from "./delivery-store";
import { queueTestEvent } from "./enqueue";
import { shownUrl } from "./formats/index";
import { sentWith } from "./deliver/groups";
import { deleteEmptyGroups } from "./gathering-store";
import {
  deleteDeliveriesOf,
  deleteEvent,
  deleteHoursBefore,
  findDelivery,
  findDeliveryOfEvent,
  listDeliveryRows,
  listEventsBefore,
  listTries,
  listUndelivered,
  queueAgain,
} from "./log-store";
import { isOpenToEvents, recipientOf } from "./recipient";
import { type DeliveryRecord, getWebhookRecord, nameInWords, wakeDeliverer } from "./records";
import { findWebhook, type WebhookRow } from "./store";
import { presentWebhook } from "./wire";

/** Number of deliveries queued again in one transaction. */
const DELIVERIES_PER_BATCH = 500;

interface DeliveryQuery {
  webhookId: string;
  status: DeliveryStatus | null;
  /** Only ids below this one. */
  before: string;
  limit: number;
}

/** Lists the deliveries of an endpoint, newest first. */
export function listDeliveries(reader: Reader, query: DeliveryQuery): DeliveryRecord[] {
  return listDeliveryRows(reader, query);
}

/** Returns one delivery of an endpoint. Throws `not_found`. */
export function getDelivery(reader: Reader, webhookId: string, id: string): DeliveryRecord {
  const delivery = findDelivery(reader, { webhookId, id });
  if (!delivery) throw notFound("delivery");
  return delivery;
}

/** Lists the attempts of a delivery, oldest first. */
export function getTries(reader: Reader, deliveryId: string): TryRow[] {
  return listTries(reader, { deliveryId });
}

/**
 * Queues a delivery of any status again, due now. The event keeps its id. Throws
 * `not_found`, or `conflict` if the endpoint is disabled.
 */
export function redeliver(
  ctx: Ctx,
  tx: Tx,
  webhookId: string,
  deliveryId: string,
  actor: Actor,
): DeliveryRecord {
  const webhook = requireEnabled(tx, webhookId);
  const { row } = getDelivery(tx, webhookId, deliveryId);
  requeue(tx, webhook, row.id, ctx.clock.now());
  const summary = `Sent an event to ${nameInWords(webhook)} again`;
  audit(ctx, tx, actor, "webhook.redeliver", webhookId, summary);
  wakeDeliverer(ctx, tx, webhookId);
  return getDelivery(tx, webhookId, deliveryId);
}

/** Number of deliveries queued again, with the position to continue from if there may be more. */
interface Redelivered {
  count: number;
  next: string | undefined;
}

/**
 * Queues failed and cancelled deliveries again that were queued at `since` (unix ms) or later,
 * oldest first, at most 500 per call. Repeat the call in another transaction with `after: next`
 * until `next` is undefined. Throws as `redeliver` does.
 */
export function redeliverFailed(
  ctx: Ctx,
  tx: Tx,
  {
    webhookId,
    since,
    after = "",
  }: { webhookId: string; since: number; after?: string | undefined },
  actor: Actor,
): Redelivered {
  const webhook = requireEnabled(tx, webhookId);
  const rows = listUndelivered(tx, { webhookId, since, after, limit: DELIVERIES_PER_BATCH });
  const now = ctx.clock.now();
  for (const { id } of rows) requeue(tx, webhook, id, now);
  if (rows.length > 0) {
    const summary = `Sent ${plural(rows.length, "event")} to ${nameInWords(webhook)} again`;
    audit(ctx, tx, actor, "webhook.redeliver", webhookId, summary);
    wakeDeliverer(ctx, tx, webhookId);
  }
  return {
    count: rows.length,
    next: rows.length === DELIVERIES_PER_BATCH ? rows.at(-1)?.id : undefined,
  };
}

/** Queues a delivery again. A mail of it that was cancelled would be taken for its result. */
function requeue(tx: Tx, { id: webhookId, format }: WebhookRow, id: string, now: number): void {
  queueAgain(tx, { id, now });
  const delivery = format === "email" ? findDelivery(tx, { webhookId, id })?.row : undefined;
  if (delivery) deleteCancelledMail(tx, { id: alertMailId(delivery) });
}

function requireEnabled(tx: Tx, id: string): WebhookRow {
  const webhook = findWebhook(tx, { id });
  if (!webhook) throw notFound("webhook");
  requireOpen(tx, webhook);
  return webhook;
}

/** Throws `conflict` for an endpoint that gets no events. */
function requireOpen(reader: Reader, webhook: WebhookRow): void {
  if (!webhook.enabled) throw conflict("The webhook is disabled. Enable it first.");
  if (isOpenToEvents(reader, webhook)) return;
  throw conflict("The owner of the address has not confirmed that it wants alerts.");
}

/** Number of rows that one call deletes. Each delivery has up to ten attempts with responses. */
const ROWS_PER_SWEEP = 200;

/**
 * Deletes events older than `before` (unix ms) with their deliveries, oldest first, at most a few
 * hundred rows per call. Pending deliveries and their events stay. Returns true if there may be
 * more.
 */
export function trimDeliveries(tx: Tx, before: number): boolean {
  const hours = deleteHoursBefore(tx, { before, limit: ROWS_PER_SWEEP });
  const groups = deleteEmptyGroups(tx, { before, limit: ROWS_PER_SWEEP });
  const isMore = Math.max(hours, groups) === ROWS_PER_SWEEP;
  // Events whose deliveries are not written yet seem to have no pending ones.
  if (hasBatches(tx)) return isMore;
  const events = listEventsBefore(tx, { before, limit: ROWS_PER_SWEEP });
  let left = ROWS_PER_SWEEP;
  for (const { id } of events) {
    left -= deleteDeliveriesOf(tx, { eventId: id, limit: left });
    if (left <= 0) return true;
    deleteEvent(tx, { id });
  }
  return events.length === ROWS_PER_SWEEP || isMore;
}

/**
 * Sends a test event to one endpoint, even if it does not subscribe to it, and returns the delivery.
 * Throws `not_found`, or `conflict` if the endpoint is disabled.
 */
export function sendTestEvent(ctx: Ctx, tx: Tx, id: string, actor: Actor): DeliveryRecord {
  const record = getWebhookRecord(tx, id, ctx.clock.now());
  const { row } = record;
  requireOpen(tx, row);
  // URL, settings and secrets are left out, since readers of the message need not know them.
  const { ref, description, events, page, page_id, format, version } = presentWebhook(record);
  const event = ctx.outbox.record(tx, {
    type: "webhook.test",
    // An endpoint for all pages is tested with the default page.
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

/** Request of a delivery as it may be shown, without its secrets. */
export interface SentRequest {
  method: string;
  url: string;
  /** Time and signature of an attempt are left out. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * Returns the request of a delivery, built again from its event. The bytes equal those of every
 * attempt, unless the endpoint changed since or its format includes current page data. Undefined if
 * the format has no message for the event.
 */
export function sentRequest(
  ctx: Ctx,
  deliveryId: string,
  readHeadline?: ReadHeadline,
): SentRequest | undefined {
  const joined = findForTry(ctx.db, { id: deliveryId });
  if (!joined) return undefined;
  const { webhook } = joined;
  const outgoing = outgoingOf(ctx.db, joined, sentWith(ctx.db, joined));
  const message = writeMessage(ctx, outgoing, readHeadline);
  if (!message) return undefined;
  if (webhook.format === "email") {
    const headers = { To: recipientOf(webhook.url), ...message.headers };
    return { method: "POST", url: webhook.url, headers, body: message.body };
  }
  const secrets = secretsIn(webhook);
  const redact = (text: string) => blanked(text, secrets);
  const { method = "POST", url = webhook.url } = message;
  const headers = { ...message.headers, "webhook-id": outgoing.messageId };
  return {
    method,
    url: url === webhook.url ? shownUrl(webhook.format, url) : redact(url),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, redact(headerText(value))]),
    ),
    body: redact(message.body),
  };
}
