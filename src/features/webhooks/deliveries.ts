import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { conflict, notFound } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { plural } from "../../kernel/text";
import type { DeliveryStatus } from "../../domain/webhook";
import { nameInWords, wakeDeliverer } from "./changes";
import type { DeliveryRow, TryRow } from "./delivery-store";
import {
  findDelivery,
  listDeliveryRows,
  listTries,
  listUndelivered,
  queueAgain,
} from "./log-store";
import { findWebhook, type WebhookRow } from "./store";

/** Number of deliveries queued again in one transaction. */
const AT_ONCE = 500;

/** One event on its way to one endpoint, with its last try if there was one. */
export interface DeliveryRecord {
  row: DeliveryRow;
  eventType: string;
  lastTry: TryRow | null;
}

export interface DeliveryQuery {
  webhookId: string;
  status: DeliveryStatus | null;
  /** Ids below this one. */
  before: string;
  limit: number;
}

/** Lists the deliveries of an endpoint, newest first. */
export function listDeliveries(reader: Reader, query: DeliveryQuery): DeliveryRecord[] {
  return listDeliveryRows(reader, query);
}

/** One delivery of an endpoint. Throws `not_found`. */
export function getDelivery(reader: Reader, webhookId: string, id: string): DeliveryRecord {
  const found = findDelivery(reader, { webhookId, id });
  if (!found) throw notFound("delivery");
  return found;
}

/** All tries of a delivery, the first one first. */
export function getTries(reader: Reader, deliveryId: string): TryRow[] {
  return listTries(reader, { deliveryId });
}

type Services = Pick<AppContext, "clock" | "signals">;

/**
 * Sends a delivery once more, at once, whatever became of it; its event keeps its id. Throws `not_found`,
 * or `conflict` where the endpoint is disabled.
 */
export function redeliver(
  ctx: Services,
  tx: Tx,
  webhookId: string,
  deliveryId: string,
  actor: Actor,
): DeliveryRecord {
  const webhook = requireEnabled(tx, webhookId);
  const { row } = getDelivery(tx, webhookId, deliveryId);
  queueAgain(tx, { id: row.id, now: ctx.clock.now() });
  const summary = `Sent an event to ${nameInWords(webhook)} again`;
  audit(ctx, tx, actor, "webhook.redeliver", webhookId, summary);
  wakeDeliverer(ctx, tx, webhookId);
  return getDelivery(tx, webhookId, deliveryId);
}

/** Number of deliveries queued again, with the position to continue from if there may be more. */
export interface Redelivered {
  count: number;
  next: string | undefined;
}

/**
 * Sends once more what was queued at `since` (unix ms) or later and never arrived: failed or cancelled.
 * At most 500 a call, in their order; call it again, in another transaction, with `after: next` until
 * there is none. Throws as `redeliver` does.
 */
export function redeliverFailed(
  ctx: Services,
  tx: Tx,
  {
    webhookId,
    since,
    after = "",
  }: { webhookId: string; since: number; after?: string | undefined },
  actor: Actor,
): Redelivered {
  const webhook = requireEnabled(tx, webhookId);
  const rows = listUndelivered(tx, { webhookId, since, after, limit: AT_ONCE });
  const now = ctx.clock.now();
  for (const { id } of rows) queueAgain(tx, { id, now });
  if (rows.length > 0) {
    const summary = `Sent ${plural(rows.length, "event")} to ${nameInWords(webhook)} again`;
    audit(ctx, tx, actor, "webhook.redeliver", webhookId, summary);
    wakeDeliverer(ctx, tx, webhookId);
  }
  return { count: rows.length, next: rows.length === AT_ONCE ? rows.at(-1)?.id : undefined };
}

function requireEnabled(tx: Tx, id: string): WebhookRow {
  const webhook = findWebhook(tx, { id });
  if (!webhook) throw notFound("webhook");
  if (!webhook.enabled) throw conflict("The webhook is disabled. Enable it first.");
  return webhook;
}
