import type { Reader } from "../../db";
import {
  deliveryHealth,
  listAllWebhooks,
  webhookName,
  type WebhookRow,
} from "../../features/webhooks";
import { MINUTE_MS } from "../../kernel/time";

/** What waits longer has failed more than twice: no mere hiccup of a receiver. */
const LONG_WAIT_MS = 10 * MINUTE_MS;

/** An endpoint that is not told of what happens. */
export interface DeliveryTrouble {
  id: string;
  name: string;
  /** Why it was disabled by itself; undefined where it is enabled. */
  disabledReason?: string;
  /** What waits for it, and since when the oldest of it does, in unix ms. */
  waiting?: { count: number; oldestAt: number };
}

/** The endpoints that were disabled by themselves, and those for which something has waited too long. */
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
