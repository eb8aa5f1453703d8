import type { Tx } from "../../db";
import type { Actor } from "../../kernel/actor";
import { changedRow, type Services, tellMonitorChange } from "./changes";
import { endNoDataOfPage } from "./checks-store";
import { enterByHand } from "./engine/by-hand";
import { getMonitorRecord } from "./records";
import { deleteMonitorComponentsOfPage, type MonitorRow, updateMonitorRow } from "./store";

/**
 * Takes the components of a page from some monitors that watch them. The components are deleted already.
 * A monitor that watches no other component is paused, unless `keepsRunning` says otherwise. Returns the
 * monitors that were paused.
 */
export function detachMonitors(
  ctx: Services,
  tx: Tx,
  detached: { monitorIds: Iterable<string>; pageId: string; actor: Actor },
  keepsRunning: (row: MonitorRow) => boolean,
): MonitorRow[] {
  const { monitorIds, pageId, actor } = detached;
  const paused: MonitorRow[] = [];
  for (const id of monitorIds) {
    deleteMonitorComponentsOfPage(tx, { monitorId: id, pageId });
    const { row: before, components } = getMonitorRecord(tx, id);
    const isPausing = !before.paused && components.length === 0 && !keepsRunning(before);
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
