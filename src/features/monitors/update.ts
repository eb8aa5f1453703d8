import type { Actor } from "../../base/actor";
import type { ApplyMetadata } from "../../base/ids";
import type { Ctx } from "../../context";
import { changedRow, type Tx } from "../../db/statements";
import { removeFromWebhooks } from "../webhooks/monitors";
import { recordMonitorChange, touchPagesOf } from "./changes";
import { removeFromDependencies, saveParents } from "./dependencies";
import { applyManualTransition, refreshAfterChange } from "./engine/transitions";
import { type AppliedIds, requireFreeRef } from "./monitors";
import { getMonitorRecord, type MonitorRecord } from "./records";
import { requireSupported, validateMonitorChange } from "./settings";
import {
  deleteMonitorComponents,
  deleteMonitorTokens,
  deleteRuns,
  insertMonitorComponent,
  type MonitorRow,
  trimSignals,
  updateMonitorRow,
} from "./store";
import type { UpdateMonitorBody } from "./wire";

/**
 * Changes a monitor. Fields that the input leaves out stay, including secrets. The statuses that it
 * gives its components now follow the change. A change to the current values changes nothing.
 *
 * Throws `not_found`, `validation_failed` that names every invalid field, or `conflict` for a ref
 * that is taken.
 */
export function updateMonitor(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: UpdateMonitorBody,
  actor: Actor,
  metadata: Pick<ApplyMetadata, "ref"> & Pick<AppliedIds, "parentIds"> = {},
): MonitorRecord {
  const validated = validateMonitorChange(tx, id, input);
  const { before, settings, config, componentIds } = validated;
  const { row } = before;
  const { name = row.name } = input;
  const { ref = row.ref, parentIds = validated.parentIds } = metadata;
  const desired: MonitorRow = { ...row, ...settings, config, name, ref };
  return saveMonitor(ctx, tx, before, { desired, componentIds, parentIds }, actor);
}

/** State of a monitor after a change; components and parents that are undefined stay. */
interface MonitorChange {
  desired: MonitorRow;
  componentIds: readonly string[] | undefined;
  parentIds: readonly string[] | undefined;
}

/** Writes a valid change of a monitor, if it changes anything. Throws `conflict` for a ref that is taken. */
export function saveMonitor(
  ctx: Ctx,
  tx: Tx,
  before: MonitorRecord,
  { desired, componentIds, parentIds }: MonitorChange,
  actor: Actor,
): MonitorRecord {
  const { row } = before;
  const { id, ref } = desired;
  const changed = changedFields(before, desired, { componentIds, parentIds });
  if (changed.length === 0) return before;
  if (changed.includes("ref")) requireFreeRef(tx, ref);
  updateMonitorRow(tx, changedRow(ctx, desired));
  if (changed.includes("components")) replaceComponents(tx, id, componentIds ?? []);
  if (changed.includes("dependencies")) saveParents(tx, id, parentIds ?? []);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.update",
    summary: `Changed the monitor “${desired.name}”: ${changed.join(", ")}`,
    actor,
  });
  const after = getMonitorRecord(tx, id);
  if (changed.every((each) => PRIVATE_WORDS.has(each))) return after;
  refreshAfterChange(ctx, tx, after.row, before.components, after.row.updatedAt);
  touchPagesOf(ctx, tx, [...before.components, ...after.components]);
  return after;
}

/** Names of changed fields for the audit log. Values are left out, since they may be secret. */
const WORDS: { readonly [Field in keyof MonitorRow]?: string } = {
  name: "name",
  ref: "ref",
  type: "type",
  config: "configuration",
  intervalSeconds: "interval",
  timeoutMs: "timeout",
  failureThreshold: "failure threshold",
  successThreshold: "success threshold",
  retryIntervalSeconds: "retry interval",
  degradedAfterMs: "degraded after",
  onDown: "on down",
  openIncident: "incidents",
  inverted: "inversion",
  reminderSeconds: "reminders",
  group: "group",
  tags: "tags",
  notes: "notes",
};

/** Names of fields that visitors never see and that have no effect on statuses. */
const PRIVATE_WORDS: ReadonlySet<string | undefined> = new Set([
  WORDS.reminderSeconds,
  WORDS.group,
  WORDS.tags,
  WORDS.notes,
]);

function changedFields(
  before: MonitorRecord,
  desired: MonitorRow,
  { componentIds, parentIds }: Omit<MonitorChange, "desired">,
): string[] {
  const changed = (Object.keys(WORDS) as (keyof MonitorRow)[])
    .filter((field) => !Bun.deepEquals(before.row[field], desired[field]))
    .map((field) => WORDS[field] ?? field);
  const idsBefore = new Set(before.components.map(({ id }) => id));
  const areSame =
    componentIds === undefined ||
    (componentIds.length === idsBefore.size && componentIds.every((id) => idsBefore.has(id)));
  if (!areSame) changed.push("components");
  const parentsBefore = before.parents.map(({ id }) => id);
  if (parentIds && !Bun.deepEquals(parentIds, parentsBefore)) changed.push("dependencies");
  return changed;
}

function replaceComponents(tx: Tx, monitorId: string, componentIds: readonly string[]): void {
  deleteMonitorComponents(tx, { monitorId });
  for (const componentId of componentIds) insertMonitorComponent(tx, { monitorId, componentId });
}

/**
 * Deletes a monitor: it is not found from now on, its secrets are erased and its tokens are invalid.
 * The statuses that it gives its components end now and stay in their history. Other monitors no longer
 * depend on it, and webhooks no longer name it. Throws `not_found`.
 */
export function deleteMonitor(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const { row: before, components } = getMonitorRecord(tx, id);
  const now = ctx.clock.now();
  // Secrets are erased.
  const row = { ...changedRow(ctx, before), config: {}, deletedAt: now };
  updateMonitorRow(tx, row);
  deleteMonitorTokens(tx, { monitorId: id, kind: null });
  deleteRuns(tx, { monitorNum: row.num, rid: null });
  trimSignals(tx, { monitorNum: row.num, kept: 0 });
  removeFromDependencies(ctx, tx, id, actor);
  removeFromWebhooks(ctx, tx, id, actor);
  applyManualTransition(ctx, tx, row, "paused", now);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.delete",
    summary: `Deleted the monitor “${row.name}”`,
    actor,
  });
  touchPagesOf(ctx, tx, components);
}

/**
 * Pauses a monitor; the statuses that it gives its components end. A paused monitor stays
 * unchanged. Throws `not_found`.
 */
export function pauseMonitor(ctx: Ctx, tx: Tx, id: string, actor: Actor): MonitorRecord {
  return setPaused(ctx, tx, id, true, actor);
}

/**
 * Resumes a monitor: it is checked at once, and earlier results do not count. A running monitor
 * stays unchanged. Throws `not_found`, or `conflict` for a type that this version cannot check.
 */
export function resumeMonitor(ctx: Ctx, tx: Tx, id: string, actor: Actor): MonitorRecord {
  return setPaused(ctx, tx, id, false, actor);
}

function setPaused(ctx: Ctx, tx: Tx, id: string, paused: boolean, actor: Actor): MonitorRecord {
  const before = getMonitorRecord(tx, id);
  if (before.row.paused === paused) return before;
  requireSupported(before.row);
  const row = { ...changedRow(ctx, before.row), paused };
  updateMonitorRow(tx, row);
  // A run that ends during a pause is not recorded.
  deleteRuns(tx, { monitorNum: row.num, rid: null });
  applyManualTransition(ctx, tx, row, paused ? "paused" : "pending", row.updatedAt);
  recordMonitorChange(ctx, tx, row, {
    action: paused ? "monitor.pause" : "monitor.resume",
    summary: `${paused ? "Paused" : "Resumed"} the monitor “${row.name}”`,
    actor,
  });
  return getMonitorRecord(tx, id);
}
