import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { FieldErrors, validate } from "../../base/validation";
import type { Actor } from "../../base/actor";
import type { MonitorType } from "../../base/status";
import { freeRef, type ManagedMetadata } from "../../base/ids";
import { toRef } from "../../base/text";
import { CreateMonitorBody } from "./bodies";
import { recordMonitorChange, touchPagesOf } from "./changes";
import { readParents, saveParents } from "./dependencies";
import { beginTimeline } from "./engine/manual-transitions";
import { getMonitorRecord, type MonitorRecord } from "./records";
import {
  initialSettings,
  validateConfig,
  validateSettings,
  namedSettings,
  readComponents,
} from "./settings";
import {
  findMonitorByRef,
  findNextNum,
  insertMonitor,
  insertMonitorComponent,
  type MonitorRow,
} from "./store";
import { addImportedTokens, giveToken, type ImportedToken } from "./heartbeat-tokens";

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
