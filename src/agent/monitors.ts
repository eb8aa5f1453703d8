import { isPassive } from "../base/status";
import { examine } from "../base/validation";
import type { Ctx } from "../context";
import { WorkMonitor } from "../features/locations/agent-wire";
import { newEvaluation } from "../features/monitors/rules";
import { defaultSettings, namedSettings } from "../features/monitors/settings";
import {
  findMonitor,
  findNextNum,
  insertMonitor,
  insertMonitorState,
  type MonitorRow,
  updateMonitorRow,
} from "../features/monitors/store";
import { deleteAgentMonitor, listAgentMonitors } from "./store";

/** Monitors that one transaction changes, about 20 ms of work. */
const PER_TRANSACTION = 250;

/**
 * Makes the monitors of the engine those of a list. `down` has the ids of those that are known to be down from here,
 * whose failures need no second look at the network.
 */
export async function replaceMonitors(
  ctx: Ctx,
  wanted: readonly unknown[],
  down: readonly string[],
): Promise<void> {
  const isDown = new Set(down);
  const monitors = wanted.filter((monitor) => isCheckable(ctx, monitor));
  const ids = new Set(monitors.map(({ id }) => id));
  const current = listAgentMonitors(ctx.db, {});
  const removed = current.filter(({ id }) => !ids.has(id));
  await inParts(removed, (part) =>
    ctx.db.write((tx) => {
      for (const { id } of part) deleteAgentMonitor(tx, id);
      ctx.signals.monitorsChanged.raise(tx);
    }),
  );
  const versions = new Map(current.map(({ id, version }) => [id, version]));
  const changed = monitors.filter(({ id, version }) => versions.get(id) !== version);
  await inParts(changed, (part) =>
    ctx.db.write((tx) => {
      for (const monitor of part) {
        const existing = findMonitor(tx, { id: monitor.id });
        const row = rowOf(ctx, monitor, existing?.num ?? findNextNum(tx, {})?.num ?? 1);
        if (existing) {
          updateMonitorRow(tx, row);
          continue;
        }
        insertMonitor(tx, row);
        const state = isDown.has(monitor.id) ? "down" : "pending";
        insertMonitorState(tx, {
          ...newEvaluation(state, row.createdAt),
          monitorNum: row.num,
          rolledUntil: row.createdAt,
          heartbeatAt: null,
          certificateExpiresAt: null,
          reminders: 0,
          remindedAt: null,
        });
      }
      ctx.signals.monitorsChanged.raise(tx);
    }),
  );
}

/** Returns false for a monitor of a newer server that this program cannot check. */
function isCheckable(ctx: Ctx, monitor: unknown): monitor is WorkMonitor {
  const [fault] = examine(WorkMonitor, monitor, 1).errors.all;
  if (!fault && !isPassive((monitor as WorkMonitor).type)) return true;
  const { id } = (monitor ?? {}) as { id?: unknown };
  ctx.log.warn({ monitor: id, field: fault?.pointer }, "this program cannot check a monitor");
  return false;
}

/** Returns the row of a monitor. What only servers need has no content. */
function rowOf(ctx: Ctx, monitor: WorkMonitor, num: number): MonitorRow {
  const now = ctx.clock.now();
  const { id, type, config, locations, version } = monitor;
  return {
    ...namedSettings(monitor, defaultSettings(type)),
    id,
    num,
    ref: id,
    name: id,
    type,
    config,
    locations,
    paused: false,
    managedBy: null,
    version,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
}

async function inParts<T>(
  items: readonly T[],
  run: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += PER_TRANSACTION) {
    // oxlint-disable-next-line no-await-in-loop
    await run(items.slice(from, from + PER_TRANSACTION));
  }
}
