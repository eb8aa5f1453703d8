import type { Tx } from "../../db";
import type { Actor } from "../../kernel/actor";
import { changedRow, type Services, tellMonitorChange } from "./changes";
import { endNoDataOfPage } from "./checks-store";
import { enterByHand } from "./engine/by-hand";
import type { MonitorRecord } from "./records";
import { deleteMonitorComponentsOfPage, type MonitorRow, updateMonitorRow } from "./store";

/**
 * Takes the components of a page, which are deleted already, from the monitors that watched them. A monitor
 * that watches no other component is paused, unless `keepsRunning` says otherwise. `monitors` are those of
 * the page as they were before. Returns the monitors that were paused.
 */
export function detachMonitorsOfPage(
  ctx: Services,
  tx: Tx,
  detached: { monitors: readonly MonitorRecord[]; pageId: string; actor: Actor },
  keepsRunning: (row: MonitorRow) => boolean,
): MonitorRow[] {
  const { monitors, pageId, actor } = detached;
  const paused: MonitorRow[] = [];
  deleteMonitorComponentsOfPage(tx, { pageId });
  for (const record of monitors) {
    const { row: before } = record;
    const isPausing = watchesOnlyPage(pageId, record) && !keepsRunning(before);
    const row = { ...changedRow(ctx, before), paused: before.paused || isPausing };
    updateMonitorRow(tx, row);
    if (isPausing) {
      enterByHand(ctx, tx, row, "paused", row.updatedAt);
      paused.push(row);
    }
    tellMonitorChange(ctx, tx, row, {
      action: isPausing ? "monitor.pause" : "monitor.update",
      summary: isPausing
        ? `Paused the monitor “${row.name}”: the page of its components was deleted`
        : `Changed the monitor “${row.name}”: components`,
      actor,
    });
  }
  endNoDataOfPage(tx, { pageId, endedAt: ctx.clock.now() });
  return paused;
}

/** True for a running monitor that watches components of this page alone. */
export function watchesOnlyPage(pageId: string, { row, components }: MonitorRecord): boolean {
  return !row.paused && components.every((component) => component.pageId === pageId);
}
