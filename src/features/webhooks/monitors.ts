import { changedRow, type Reader, type Tx } from "../../db";
import { invalidFields, pointer } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { ANY_MONITOR } from "../../domain/webhook";
import { nameInWords, type Services } from "./changes";
import { listMonitorsById } from "./monitor-store";
import { listAllWebhooks, updateWebhookRow, type WebhookRow } from "./store";

/** Returns the refs of monitors by their ids, in their order; `ANY_MONITOR` is unchanged. */
export function monitorRefs(reader: Reader, ids: readonly string[]): string[] {
  if (ids.includes(ANY_MONITOR)) return [...ids];
  const refs = new Map(listMonitorsById(reader, ids).map(({ id, ref }) => [id, ref]));
  return ids.map((id) => refs.get(id) ?? id);
}

/** Lists the endpoints that receive the events of selected monitors, oldest first. */
export function listSelectiveWebhooks(reader: Reader): WebhookRow[] {
  return listAllWebhooks(reader, {}).filter(({ monitors }) => !monitors.includes(ANY_MONITOR));
}

/**
 * Makes these endpoints, and no others of those for selected monitors, receive the events of a monitor. Returns
 * true if that changed any. Throws `validation_failed` for an endpoint that is not for selected monitors.
 */
export function selectWebhooksOfMonitor(
  ctx: Pick<Services, "clock">,
  tx: Tx,
  monitorId: string,
  webhookIds: readonly string[],
  actor: Actor,
): boolean {
  const selective = listSelectiveWebhooks(tx);
  if (webhookIds.some((id) => !selective.some((row) => row.id === id))) {
    const detail = "must be webhooks for selected monitors";
    throw invalidFields([{ pointer: pointer("webhook_ids"), detail }]);
  }
  const changed = selective.filter(
    ({ id, monitors }) => monitors.includes(monitorId) !== webhookIds.includes(id),
  );
  for (const row of changed) {
    const others = row.monitors.filter((id) => id !== monitorId);
    const monitors = webhookIds.includes(row.id) ? [...others, monitorId] : others;
    updateWebhookRow(tx, { ...changedRow(ctx, row), monitors });
    audit(ctx, tx, actor, "webhook.update", row.id, `Changed ${nameInWords(row)}: monitors`);
  }
  return changed.length > 0;
}

/** Removes a monitor that is deleted from the endpoints that name it. */
export function removeFromWebhooks(
  ctx: Pick<Services, "clock">,
  tx: Tx,
  monitorId: string,
  actor: Actor,
): void {
  selectWebhooksOfMonitor(ctx, tx, monitorId, [], actor);
}
