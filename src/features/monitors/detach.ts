import type { Ctx } from "../../context";
import { changedRow, type Tx } from "../../db/statements";
import { recordAudits } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { endNoDataOfPage } from "./checks-store";
import { pauseUnwatching } from "./engine/manual-transitions";
import type { MonitorRecord } from "./records";
import {
  deleteMonitorComponentsOfPage,
  type MonitorRow,
  pauseMonitorRows,
  touchMonitorRows,
} from "./store";

/**
 * Removes the deleted components of a page from their monitors. A monitor without other components
 * is paused, unless `keepsRunning` returns true. `monitors` are those of the page before the
 * deletion. Returns the monitors that were paused.
 */
export function detachMonitorsOfPage(
  ctx: Ctx,
  tx: Tx,
  detached: { monitors: readonly MonitorRecord[]; pageId: string; actor: Actor },
  keepsRunning: (row: MonitorRow) => boolean,
): MonitorRow[] {
  const { monitors, pageId, actor } = detached;
  if (monitors.length === 0) return [];
  const at = ctx.clock.now();
  const isPausing = (record: MonitorRecord) =>
    watchesOnlyPage(pageId, record) && !keepsRunning(record.row);
  const pausing = new Set(monitors.filter(isPausing).map(({ row }) => row.num));
  const changed = monitors.map(({ row }) => {
    return { ...changedRow(ctx, row), paused: row.paused || pausing.has(row.num) };
  });
  const paused = changed.filter(({ num }) => pausing.has(num));
  deleteMonitorComponentsOfPage(tx, { pageId });
  touchMonitorRows(tx, { nums: JSON.stringify(changed.map(({ num }) => num)), at });
  pauseMonitorRows(tx, { nums: JSON.stringify([...pausing]) });
  pauseUnwatching(tx, paused, at);
  recordAudits(
    tx,
    changed.map(({ id, num, name }) => ({
      actor,
      action: pausing.has(num) ? "monitor.pause" : "monitor.update",
      targetId: id,
      summary: pausing.has(num)
        ? `Paused the monitor “${name}”: the page of its components was deleted`
        : `Changed the monitor “${name}”: components`,
      at,
    })),
  );
  ctx.signals.monitorsChanged.raise(tx);
  endNoDataOfPage(tx, { pageId, endedAt: at });
  return paused;
}

/** Returns true for a running monitor that checks only components of this page. */
export function watchesOnlyPage(pageId: string, { row, components }: MonitorRecord): boolean {
  return !row.paused && components.every((component) => component.pageId === pageId);
}
