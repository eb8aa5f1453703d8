import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { changedRow, type Services, recordMonitorChange } from "./changes";
import { applyManualTransition } from "./engine/manual-transitions";
import { getMonitorRecord, type MonitorRecord } from "./records";
import { updateMonitorRow } from "./store";

/** Stops checking a monitor; what it marks ends. One that is paused stays as it is. Throws `not_found`. */
export function pauseMonitor(ctx: Services, tx: Tx, id: string, actor: Actor): MonitorRecord {
  return setPaused(ctx, tx, id, true, actor);
}

/**
 * Goes on checking a monitor: at once, and from nothing. One that is not paused stays as it is. Throws
 * `not_found`.
 */
export function resumeMonitor(ctx: Services, tx: Tx, id: string, actor: Actor): MonitorRecord {
  return setPaused(ctx, tx, id, false, actor);
}

function setPaused(
  ctx: Services,
  tx: Tx,
  id: string,
  paused: boolean,
  actor: Actor,
): MonitorRecord {
  const before = getMonitorRecord(tx, id);
  if (before.row.paused === paused) return before;
  const row = { ...changedRow(ctx, before.row), paused };
  updateMonitorRow(tx, row);
  applyManualTransition(ctx, tx, row, paused ? "paused" : "pending", row.updatedAt);
  recordMonitorChange(ctx, tx, row, {
    action: paused ? "monitor.pause" : "monitor.resume",
    summary: `${paused ? "Paused" : "Resumed"} the monitor “${row.name}”`,
    actor,
  });
  return getMonitorRecord(tx, id);
}
