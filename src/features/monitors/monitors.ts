import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { freeRef, type ManagedMetadata } from "../../base/ids";
import { toRef } from "../../base/text";
import { validate } from "../../base/validation";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { recordAudits } from "../../events/audit";
import { recordMonitorChange, touchPagesOf } from "./changes";
import { endNoDataOfPage } from "./checks-store";
import { saveParents } from "./dependencies";
import { beginTimeline, pauseUnwatching } from "./engine/transitions";
import { addImportedTokens, giveToken, type ImportedToken } from "./heartbeats";
import { getMonitorRecord, type MonitorRecord } from "./records";
import { readNewMonitor } from "./settings";
import {
  deleteMonitorComponentsOfPage,
  findMonitorByRef,
  findNextNum,
  insertMonitor,
  insertMonitorComponent,
  type MonitorRow,
  pauseMonitorRows,
  touchMonitorRows,
} from "./store";
import { CreateMonitorBody } from "./wire";

/** Ids and tokens of a new monitor from a configuration file or an import. */
export interface AppliedIds {
  /** Id of a new monitor. */
  id?: string;
  /** Ids of its parents, whose dependencies are validated together. */
  parentIds?: readonly string[];
  /** Tokens with which its job calls already, instead of a generated one. */
  tokens?: readonly ImportedToken[];
}

/** A monitor with the token of its job, if it has one: show the token once and never store it. */
export interface NewMonitor {
  record: MonitorRecord;
  token: string | undefined;
}

/**
 * Validates a new monitor and completes its settings, without writing. Throws `validation_failed`
 * that names every invalid field.
 */
export function validateNewMonitor(reader: Reader, input: CreateMonitorBody) {
  validate(CreateMonitorBody, input);
  return readNewMonitor(reader, input);
}

/**
 * Creates a monitor, which is checked at once unless it is created paused. Throws
 * `validation_failed` that names every invalid field, or `conflict` for a ref that is taken.
 */
export function createMonitor(
  ctx: Ctx,
  tx: Tx,
  input: CreateMonitorBody,
  actor: Actor,
  metadata: ManagedMetadata & AppliedIds = {},
): NewMonitor {
  const { name, type, paused = false } = input;
  return insertNewMonitor(
    ctx,
    tx,
    { name, type, paused, ...validateNewMonitor(tx, input) },
    actor,
    metadata,
  );
}

/** Stores a valid new monitor and starts its timeline. Throws `conflict` for a ref that is taken. */
export function insertNewMonitor(
  ctx: Ctx,
  tx: Tx,
  monitor: Pick<MonitorRow, "name" | "type" | "paused"> & ReturnType<typeof readNewMonitor>,
  actor: Actor,
  metadata: ManagedMetadata & AppliedIds = {},
): NewMonitor {
  const { name, type, paused, config, settings, componentIds, parentIds } = monitor;
  const holderOf = (ref: string) => findMonitorByRef(tx, { ref });
  const ref = metadata.ref ?? freeRef(toRef(name) || type, holderOf);
  requireFreeRef(tx, ref);
  const now = ctx.clock.now();
  const row: MonitorRow = {
    id: metadata.id ?? ctx.newId("mon"),
    num: findNextNum(tx, {})?.num ?? 1,
    ref,
    name,
    type,
    config,
    ...settings,
    paused,
    managedBy: metadata.managedBy ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  insertMonitor(tx, row);
  for (const componentId of componentIds) {
    insertMonitorComponent(tx, { monitorId: row.id, componentId });
  }
  saveParents(tx, row.id, metadata.parentIds ?? parentIds);
  addImportedTokens(ctx, tx, row.id, metadata.tokens ?? []);
  const token = type === "push" && !metadata.tokens ? giveToken(ctx, tx, row.id) : undefined;
  beginTimeline(tx, row, now);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.create",
    summary: `Created the monitor “${name}” (${type})`,
    actor,
  });
  const record = getMonitorRecord(tx, row.id);
  touchPagesOf(ctx, tx, record.components);
  return { record, token };
}

/** Throws `conflict` if another monitor has the ref. */
export function requireFreeRef(reader: Reader, ref: string): void {
  if (!findMonitorByRef(reader, { ref })) return;
  throw conflict(`The ref ${ref} is taken by another monitor.`);
}

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
