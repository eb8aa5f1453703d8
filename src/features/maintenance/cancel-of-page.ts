import type { Tx } from "../../db";
import { recordAudits } from "../../events";
import type { Actor } from "../../domain/actor";
import { touchPage } from "../pages";
import { withStatus, type Services } from "./change";
import { componentsForDocument } from "./lists";
import { recordMaintenanceEvent } from "./event";
import { presentMaintenance } from "./model";
import { updatesOf } from "./records";
import { cancelMaintenanceRows, listPending } from "./store";
import { insertMaintenanceUpdates, listFirstUpdates } from "./update-store";

/**
 * Cancels every maintenance of a page that is neither completed nor cancelled, because the page is about
 * to be deleted. People are notified of each as they were of its plan. The components of the page are
 * deleted already, so there are no causes to end.
 */
export function cancelMaintenanceOfPage(ctx: Services, tx: Tx, pageId: string, actor: Actor): void {
  const pending = listPending(tx, { pageId, limit: Number.MAX_SAFE_INTEGER });
  if (pending.length === 0) return;
  const now = ctx.clock.now();
  const maintenanceIds = pending.map(({ row }) => row.id);
  const ids = JSON.stringify(maintenanceIds);
  const chosen = componentsForDocument(tx, maintenanceIds);
  const newest = updatesOf(tx, maintenanceIds, 1);
  const planned = new Map(
    listFirstUpdates(tx, { ids }).map(({ maintenanceId, notify }) => [maintenanceId, notify]),
  );
  const cancelled = pending.map(({ row, page }) => {
    const update = {
      id: ctx.newId("upd"),
      maintenanceId: row.id,
      status: "cancelled" as const,
      body: "The status page was deleted.",
      displayAt: Math.max(now, newest.get(row.id)?.[0]?.displayAt ?? 0),
      notify: planned.get(row.id) ?? true,
      createdAt: now,
    };
    const entered = withStatus(row, "cancelled", update.displayAt);
    return { row: { ...entered, version: row.version + 1, updatedAt: now }, page, update };
  });
  cancelMaintenanceRows(tx, { ids, at: now });
  insertMaintenanceUpdates(
    tx,
    cancelled.map(({ update }) => update),
  );
  for (const { row, page, update } of cancelled) {
    const { components = [], isCut = false } = chosen.get(row.id) ?? {};
    const record = { row, page, components, updates: [update], isCut };
    const maintenance = presentMaintenance(record, ctx.baseUrl);
    recordMaintenanceEvent(ctx, tx, "maintenance.cancelled", maintenance, update.notify);
  }
  recordAudits(
    tx,
    pending.map(({ row }) => ({
      actor,
      action: "maintenance.cancel",
      targetId: row.id,
      summary: `Cancelled the maintenance “${row.name}”`,
      at: now,
    })),
  );
  touchPage(ctx, tx, pageId);
}
