import type { Actor } from "../../base/actor";
import { FieldErrors } from "../../base/validation";
import { ANY_EVENT, ANY_MONITOR } from "../../base/webhook";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { listMonitorsById } from "./monitor-store";
import { listAllWebhooks, updateWebhookRow, type WebhookRow } from "./store";
import { nameInWords, webhookName } from "./records";
import { MONITORS_MAX } from "./wire";

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

/** Returns true if an endpoint receives events of a kind, such as "monitor". */
export function receivesKind({ events }: Pick<WebhookRow, "events">, kind: string): boolean {
  return events.some((event) => event === ANY_EVENT || event.startsWith(`${kind}.`));
}

/** Lists the endpoints that would be left without a monitor by the deletion of these monitors, oldest first. */
export function listWebhooksOnlyFor(reader: Reader, monitorIds: ReadonlySet<string>): WebhookRow[] {
  return listSelectiveWebhooks(reader).filter(
    ({ monitors }) => monitors.length > 0 && monitors.every((id) => monitorIds.has(id)),
  );
}

/** Endpoints for selected monitors, by id, whose selection of a monitor changes. */
interface SelectionChange {
  added: readonly string[];
  /** Unknown ones, and those for all monitors, are ignored. */
  removed: readonly string[];
}

/**
 * Makes endpoints for selected monitors receive the events of a monitor or no longer receive them. Returns true
 * if that changed any. Throws `validation_failed` for an added endpoint that is not for selected monitors, or
 * that has the most monitors already.
 */
export function selectWebhooksOfMonitor(
  ctx: Ctx,
  tx: Tx,
  monitorId: string,
  { added, removed }: SelectionChange,
  actor: Actor,
): boolean {
  if (added.length === 0 && removed.length === 0) return false;
  const selective = listSelectiveWebhooks(tx);
  const errors = new FieldErrors();
  if (added.some((id) => !selective.some((row) => row.id === id))) {
    errors.add(["webhook_ids"], "must be webhooks for selected monitors");
  }
  const changed = selective.filter(({ id, monitors }) =>
    (monitors.includes(monitorId) ? removed : added).includes(id),
  );
  for (const row of changed) {
    const others = row.monitors.filter((id) => id !== monitorId);
    const isAdded = others.length === row.monitors.length;
    if (isAdded && others.length >= MONITORS_MAX) {
      const detail = `must not include “${webhookName(row)}”, which has ${MONITORS_MAX.toLocaleString("en")} monitors, the most`;
      errors.add(["webhook_ids"], detail);
    }
    const monitors = isAdded ? [...others, monitorId] : others;
    updateWebhookRow(tx, { ...changedRow(ctx, row), monitors });
    const what = monitors.length === 0 ? "monitors, none is left" : "monitors";
    audit(ctx, tx, actor, "webhook.update", row.id, `Changed ${nameInWords(row)}: ${what}`);
  }
  errors.throwIfAny();
  return changed.length > 0;
}

/** Removes a monitor that is deleted from the endpoints that name it. */
export function removeFromWebhooks(ctx: Ctx, tx: Tx, monitorId: string, actor: Actor): void {
  const removed = listSelectiveWebhooks(tx).map(({ id }) => id);
  selectWebhooksOfMonitor(ctx, tx, monitorId, { added: [], removed }, actor);
}
