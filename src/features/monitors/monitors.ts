/*
 * Verbs of monitors: people, API keys, files and imports create, change, pause and delete them. A verb takes a body
 * that its schema has examined, and finds the other errors: see `settings.ts`.
 */
import type { Actor } from "../../base/actor";
import { tokenKey } from "../../base/tokens";
import { conflict, notFound } from "../../base/errors";
import { isPassive } from "../../base/status";
import { type ApplyMetadata, freeRef, type ManagedMetadata } from "../../base/ids";
import { toRef } from "../../base/text";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { audit, recordAudits } from "../../events/audit";
import { touchPage } from "../pages/pages";
import { removeFromWebhooks } from "../webhooks/monitors";
import { deleteOpenAlertsOf } from "./alerts/alert-store";
import { setLevelsAgain } from "./alerts/reports";
import { endNoDataOfPage } from "./spans-store";
import { removeFromDependencies, saveParents } from "./dependencies";
import {
  applyManualTransition,
  beginTimeline,
  pauseUnwatching,
  refreshAfterChange,
} from "./engine/transitions";
import {
  deleteMonitorTokens,
  deleteRuns,
  deleteToken,
  listTokensOf,
  trimSignals,
} from "./job-store";
import { restartLocationStates, saveLocationStates } from "./monitor-locations";
import { type AffectedComponent, getMonitorRecord, type MonitorRecord } from "./records";
import { readMonitorChange, readNewMonitor, requireSupported } from "./settings";
import {
  deleteMonitorComponents,
  deleteMonitorComponentsOfPage,
  findMonitorByRef,
  findNextNum,
  insertMonitor,
  insertMonitorComponent,
  type MonitorRow,
  pauseMonitorRows,
  saveAcknowledgement,
  touchMonitorRows,
  updateMonitorRow,
} from "./store";
import { addImportedTokens, giveToken, type ImportedToken } from "./tokens";
import type { AcknowledgeBody, CreateMonitorBody, UpdateMonitorBody } from "./wire";

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
 * Creates a monitor, which is checked at once unless it is created paused. Throws
 * `validation_failed` that names every invalid field, or `conflict` for a ref that is taken.
 */
export function createMonitor(
  ctx: Ctx,
  tx: Tx,
  input: Valid<CreateMonitorBody>,
  actor: Actor,
  metadata: ManagedMetadata & AppliedIds = {},
): NewMonitor {
  const { name, type, paused = false } = input;
  const errors = new FieldErrors();
  const valid = readNewMonitor(tx, input, errors);
  errors.throwIfAny();
  return insertNewMonitor(ctx, tx, { name, type, paused, ...valid }, actor, metadata);
}

/** Stores a valid new monitor and starts its timeline. Throws `conflict` for a ref that is taken. */
export function insertNewMonitor(
  ctx: Ctx,
  tx: Tx,
  monitor: Pick<MonitorRow, "name" | "type" | "paused"> & ReturnType<typeof readNewMonitor>,
  actor: Actor,
  metadata: ManagedMetadata & AppliedIds = {},
): NewMonitor {
  const { name, type, paused, config, settings, componentIds, parentIds, locationIds } = monitor;
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
    locations: locationIds,
    deletedAt: null,
  };
  insertMonitor(tx, row);
  for (const componentId of componentIds) {
    insertMonitorComponent(tx, { monitorId: row.id, componentId });
  }
  saveParents(tx, row.id, metadata.parentIds ?? parentIds);
  addImportedTokens(ctx, tx, row.id, metadata.tokens ?? []);
  const token = isPassive(type) && !metadata.tokens ? giveToken(ctx, tx, row.id) : undefined;
  beginTimeline(tx, row, now);
  saveLocationStates(tx, row, now);
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
  input: Valid<UpdateMonitorBody>,
  actor: Actor,
  metadata: Pick<ApplyMetadata, "ref"> & Pick<AppliedIds, "parentIds"> = {},
): MonitorRecord {
  const before = getMonitorRecord(tx, id);
  const { row } = before;
  const errors = new FieldErrors();
  const valid = readMonitorChange(tx, row, input, errors);
  errors.throwIfAny();
  const { settings, config, componentIds, locationIds: locations = row.locations } = valid;
  const { name = row.name } = input;
  const { ref = row.ref, parentIds = valid.parentIds } = metadata;
  const desired: MonitorRow = { ...row, ...settings, config, name, ref, locations };
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
  const saved = changedRow(ctx, desired);
  updateMonitorRow(tx, saved);
  if (changed.includes("locations")) saveLocationStates(tx, saved, saved.updatedAt, row);
  if (changed.includes("components")) replaceComponents(tx, id, componentIds ?? []);
  if (changed.includes("dependencies")) saveParents(tx, id, parentIds ?? []);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.update",
    summary: `Changed the monitor “${desired.name}”: ${changed.join(", ")}`,
    actor,
  });
  if (row.type === "alert" && changed.includes("configuration")) setLevelsAgain(tx, desired);
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
  locations: "locations",
  downWhen: "down when",
  group: "group",
  tags: "tags",
  notes: "notes",
};

/** Names of fields that visitors never see and that have no effect on statuses. */
const PRIVATE_WORDS: ReadonlySet<string | undefined> = new Set([
  WORDS.reminderSeconds,
  WORDS.locations,
  WORDS.downWhen,
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
  deleteOpenAlertsOf(tx, { monitorNum: row.num });
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
  const state = paused ? "paused" : "pending";
  applyManualTransition(ctx, tx, row, state, row.updatedAt);
  restartLocationStates(tx, [row], state, row.updatedAt);
  recordMonitorChange(ctx, tx, row, {
    action: paused ? "monitor.pause" : "monitor.resume",
    summary: `${paused ? "Paused" : "Resumed"} the monitor “${row.name}”`,
    actor,
  });
  return getMonitorRecord(tx, id);
}

/**
 * Acknowledges the outage of a monitor: nobody is reminded of it until the monitor recovers. An outage that is acknowledged
 * stays unchanged. Throws `not_found`, or `conflict` for a monitor that is not down.
 */
export function acknowledgeMonitor(
  ctx: Ctx,
  tx: Tx,
  id: string,
  { note }: Valid<AcknowledgeBody>,
  actor: Actor,
): MonitorRecord {
  const before = getMonitorRecord(tx, id);
  const { row, state } = before;
  if (state.acknowledgement) return before;
  if (state.state !== "down") {
    throw conflict(`The monitor is ${state.state}. Only one that is down can be acknowledged.`);
  }
  const { kind, label } = actor;
  saveAcknowledgement(tx, {
    monitorNum: row.num,
    acknowledgement: {
      at: ctx.clock.now(),
      by: { kind, id: actor.id, label },
      note: note ?? null,
    },
  });
  audit(
    ctx,
    tx,
    actor,
    "monitor.acknowledge",
    row.id,
    `Acknowledged the outage of the monitor “${row.name}”${note === undefined ? "" : `: ${note}`}`,
  );
  return getMonitorRecord(tx, id);
}

/**
 * Gives a monitor that waits for reports another generated token; the earlier one is refused from now on. Throws
 * `not_found`, or `conflict` for other types.
 */
export function rotateToken(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
): Required<NewMonitor> & { token: string } {
  const { row } = getMonitorRecord(tx, id);
  if (!isPassive(row.type)) {
    throw conflict(
      `The monitor has the type ${row.type}. Only push and alert monitors have a token.`,
    );
  }
  updateMonitorRow(tx, changedRow(ctx, row));
  const token = giveToken(ctx, tx, id);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.rotate_token",
    summary: `Gave the monitor “${row.name}” another token`,
    actor,
  });
  return { record: getMonitorRecord(tx, id), token };
}

/** Ends a token of a monitor, which is refused from now on. Throws `not_found`. */
export function endToken(ctx: Ctx, tx: Tx, id: string, key: string, actor: Actor): MonitorRecord {
  const { row } = getMonitorRecord(tx, id);
  const token = listTokensOf(tx, { monitorId: id }).find(({ hash }) => tokenKey(hash) === key);
  if (!token) throw notFound("token");
  deleteToken(tx, token);
  updateMonitorRow(tx, changedRow(ctx, row));
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.end_token",
    summary: `Ended a token of the monitor “${row.name}” (${token.kind})`,
    actor,
  });
  return getMonitorRecord(tx, id);
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
  restartLocationStates(tx, paused, "paused", at);
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

/** Actions on monitors in the audit log. */
type MonitorAction =
  | "monitor.create"
  | "monitor.update"
  | "monitor.delete"
  | "monitor.pause"
  | "monitor.resume"
  | "monitor.rotate_token"
  | "monitor.end_token";

/** Writes the audit row of a change, and after the commit signals that monitors changed. */
function recordMonitorChange(
  ctx: Ctx,
  tx: Tx,
  row: MonitorRow,
  change: { action: MonitorAction; summary: string; actor: Actor },
): void {
  audit(ctx, tx, change.actor, change.action, row.id, change.summary);
  ctx.signals.monitorsChanged.raise(tx);
}

/**
 * Marks the pages of components as changed, since another monitor's checks are shown from now on.
 */
function touchPagesOf(
  ctx: Ctx,
  tx: Tx,
  components: readonly Pick<AffectedComponent, "pageId">[],
): void {
  for (const pageId of new Set(components.map((component) => component.pageId))) {
    touchPage(ctx, tx, pageId);
  }
}
