import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { changedRow, type Services, recordMonitorChange, touchPagesOf } from "./changes";
import { applyManualTransition } from "./engine/manual-transitions";
import { getMonitorRecord } from "./records";
import { updateMonitorRow } from "./store";

/**
 * Deletes a monitor: 404 from now on, its secrets gone, its token good for nothing. What it marks ends now; what it marked
 * stays in the history of its components. Throws `not_found`.
 */
export function deleteMonitor(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const { row: before, components } = getMonitorRecord(tx, id);
  const now = ctx.clock.now();
  // Its secrets serve nobody any more.
  const row = { ...changedRow(ctx, before), config: {}, tokenHash: null, deletedAt: now };
  updateMonitorRow(tx, row);
  applyManualTransition(ctx, tx, row, "paused", now);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.delete",
    summary: `Deleted the monitor “${row.name}”`,
    actor,
  });
  touchPagesOf(ctx, tx, components);
}
