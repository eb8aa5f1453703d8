import type { Reader } from "../../db";
import {
  deliveryHealth,
  listAllWebhooks,
  webhookName,
  type WebhookRow,
} from "../../features/webhooks";
import { MINUTE_MS } from "../../kernel/time";

/**
 * Waiting time in ms above which a delivery has failed more than twice, so that the failure is not
 * brief.
 */
const LONG_WAIT_MS = 10 * MINUTE_MS;

/** Endpoint that receives no events. */
export interface DeliveryTrouble {
  id: string;
  name: string;
  /** Reason for the automatic disabling; undefined if enabled. */
  disabledReason?: string;
  /** Number of waiting deliveries, and the time of the oldest in unix ms. */
  waiting?: { count: number; oldestAt: number };
}

/**
 * Reads the endpoints that were disabled automatically, and those with a delivery older than
 * `LONG_WAIT_MS`.
 */
export function readDeliveryTroubles(reader: Reader, now: number): DeliveryTrouble[] {
  const backlogs = new Map(
    deliveryHealth(reader, now)
      .backlogs.filter(({ oldestAt }) => now - oldestAt > LONG_WAIT_MS)
      .map(({ webhookId, count, oldestAt }) => [webhookId, { count, oldestAt }]),
  );
  return listAllWebhooks(reader, {}).flatMap((row) => troubleOf(row, backlogs.get(row.id)));
}

function troubleOf(row: WebhookRow, waiting: DeliveryTrouble["waiting"]): DeliveryTrouble[] {
  const { id, enabled, disabledReason } = row;
  const name = webhookName(row);
  if (enabled) return waiting ? [{ id, name, waiting }] : [];
  return disabledReason === null ? [] : [{ id, name, disabledReason }];
}
