import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { freeRef, type ManagedMetadata } from "../../base/ids";
import type { MonitorType } from "../../base/status";
import { toRef } from "../../base/text";
import { SECOND_MS } from "../../base/time";
import { examine, FieldErrors, schemaErrors, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { recordAudits } from "../../events/audit";
import { pathInList, resolveComponents } from "../components/references";
import { recordMonitorChange, touchPagesOf } from "./changes";
import { endNoDataOfPage } from "./checks-store";
import { readParents, saveParents } from "./dependencies";
import { beginTimeline, pauseUnwatching } from "./engine/transitions";
import { addImportedTokens, giveToken, type ImportedToken } from "./heartbeats";
import { type MonitorConfig, probeOf } from "./probes";
import { scheduleOf } from "./probes/push";
import { getMonitorRecord, type MonitorRecord } from "./records";
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
import {
  changeSchemaOf,
  CreateMonitorBody,
  intervalOf,
  intervalsOf,
  type MonitorSettings,
  REMINDER_MIN_SECONDS,
  SHORT_TIMEOUT_MS,
} from "./wire";

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

/** Completes a new monitor that its schema accepts. Throws as `validateNewMonitor` does. */
export function readNewMonitor(
  reader: Reader,
  input: Omit<CreateMonitorBody, "type"> & { type: MonitorType },
) {
  const { type, config = {}, component_ids: references = [], depends_on: parents = [] } = input;
  const settings = namedSettings(input, initialSettings(type, input));
  const errors = new FieldErrors();
  validateConfig(errors, type, config, input.paused);
  const componentIds = readComponents(reader, errors, references);
  const parentIds = readParents(reader, errors, parents);
  validateSettings(errors, type, settings, config);
  errors.throwIfAny();
  return { config, settings, componentIds, parentIds };
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

/** Columns of a monitor that callers set, in addition to its name and config. */
type Settings = Pick<
  MonitorRow,
  | "intervalSeconds"
  | "timeoutMs"
  | "failureThreshold"
  | "successThreshold"
  | "retryIntervalSeconds"
  | "degradedAfterMs"
  | "onDown"
  | "openIncident"
  | "inverted"
  | "reminderSeconds"
  | "group"
  | "tags"
  | "notes"
>;

const FAILURE_THRESHOLD = 3;

/** Returns the default settings of a type for an interval. */
export function defaultSettings(
  type: MonitorType,
  intervalSeconds: number | null = intervalsOf(type).default,
): Settings {
  return {
    intervalSeconds,
    timeoutMs: 10_000,
    failureThreshold: probeOf(type).failureThreshold ?? FAILURE_THRESHOLD,
    successThreshold: 1,
    retryIntervalSeconds: Math.min(intervalsOf(type).retry, intervalSeconds ?? Infinity),
    degradedAfterMs: null,
    onDown: "partial_outage",
    openIncident: "never",
    inverted: false,
    reminderSeconds: 0,
    group: null,
    tags: [],
    notes: null,
  };
}

/** Interval and config as a body names them. */
interface NamedTiming {
  interval_seconds?: number | null;
  config?: MonitorConfig;
}

/** Returns the settings of a new monitor by default. One with a schedule has no interval. */
export function initialSettings(type: MonitorType, input: NamedTiming): Settings {
  const { interval_seconds: interval, config = {} } = input;
  return defaultSettings(type, interval === undefined && scheduleOf(config) ? null : interval);
}

/** Returns the settings of a monitor before a change that names them. A schedule that it gives ends the interval. */
export function settingsBefore(settings: Settings, { config = {} }: NamedTiming): Settings {
  return typeof config["schedule"] === "string" ? { ...settings, intervalSeconds: null } : settings;
}

/** Returns the settings that a body names, and `others` for the rest. */
export function namedSettings(input: MonitorSettings, others: Settings): Settings {
  return {
    intervalSeconds:
      input.interval_seconds === undefined ? others.intervalSeconds : input.interval_seconds,
    timeoutMs: input.timeout_ms ?? others.timeoutMs,
    failureThreshold: input.failure_threshold ?? others.failureThreshold,
    successThreshold: input.success_threshold ?? others.successThreshold,
    retryIntervalSeconds: input.retry_interval_seconds ?? others.retryIntervalSeconds,
    degradedAfterMs:
      input.degraded_after_ms === undefined ? others.degradedAfterMs : input.degraded_after_ms,
    onDown: input.on_down ?? others.onDown,
    openIncident: input.open_incident ?? others.openIncident,
    inverted: input.inverted ?? others.inverted,
    reminderSeconds: input.reminder_seconds ?? others.reminderSeconds,
    group: input.group === undefined ? others.group : input.group,
    tags: input.tags ?? others.tags,
    notes: input.notes === undefined ? others.notes : input.notes,
  };
}

/**
 * Adds errors of settings that contradict each other, the type or the config. The schemas of changes have
 * passed, which are the same for all types.
 */
export function validateSettings(
  errors: FieldErrors,
  type: MonitorType,
  settings: Settings,
  config: MonitorConfig,
): void {
  const { intervalSeconds, retryIntervalSeconds, reminderSeconds, timeoutMs } = settings;
  const [error] = schemaErrors(intervalOf(type), intervalSeconds);
  if (error) errors.add(["interval_seconds"], error.detail);
  else if (intervalSeconds !== null && scheduleOf(config)) {
    errors.add(["interval_seconds"], "must be null, since the schedule tells when calls are due");
  }
  if (reminderSeconds > 0 && reminderSeconds < REMINDER_MIN_SECONDS) {
    errors.add(["reminder_seconds"], `must be 0 or at least ${REMINDER_MIN_SECONDS}`);
  }
  const timeoutMaxMs = Math.max(SHORT_TIMEOUT_MS, (intervalSeconds ?? Infinity) * SECOND_MS);
  if (timeoutMs > timeoutMaxMs) {
    errors.add(["timeout_ms"], `must be at most ${timeoutMaxMs}, or the interval must be longer`);
  }
  if (intervalSeconds !== null && retryIntervalSeconds > intervalSeconds) {
    errors.add(
      ["retry_interval_seconds"],
      `must not be longer than the interval of ${intervalSeconds} seconds`,
    );
  }
}

/** Returns the ids of the components that a body names. Adds the errors of `resolveComponents`. */
export function readComponents(
  reader: Reader,
  errors: FieldErrors,
  references: readonly string[],
): string[] {
  return resolveComponents(reader, references, errors, pathInList("component_ids")).map(
    ({ id }) => id,
  );
}

/**
 * Adds errors of a new monitor's config that its schema cannot express. A program that checks need may be missing
 * while the monitor is paused.
 */
export function validateConfig(
  errors: FieldErrors,
  type: MonitorType,
  config: MonitorConfig,
  isPaused = false,
): void {
  const probe = probeOf(type);
  const program = isPaused ? undefined : probe.findMissingProgram?.();
  if (program !== undefined) {
    errors.add(
      ["config"],
      `needs the program ${program}, which is not installed on the server: install it, or pause the monitor`,
    );
  }
  errors.addAll(["config"], probe.validate(config));
}

/**
 * Returns the config after a change of some of its fields. Adds errors; the earlier config is
 * returned if the change itself is invalid.
 */
export function changedConfig(
  errors: FieldErrors,
  type: MonitorType,
  before: MonitorConfig,
  change: Readonly<Record<string, unknown>>,
): MonitorConfig {
  const probe = probeOf(type);
  const { errors: configErrors } = examine(changeSchemaOf(type), change);
  errors.addAll(["config"], configErrors);
  if (!configErrors.isEmpty) return before;
  const after = probe.merge(before, change);
  // A valid change can make the whole config invalid.
  const { errors: faults } = examine(probe.config, after);
  errors.addAll(["config"], probe.validateChange?.(before, change) ?? []);
  const outcome = new FieldErrors();
  outcome.addAll(["config"], faults.isEmpty ? probe.validate(after) : faults);
  // A required secret that is dropped gets one error.
  errors.addMissing(outcome);
  return after;
}
