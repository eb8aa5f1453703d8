import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { FieldErrors } from "../../base/validation";
import type { Actor } from "../../base/actor";
import type { CreateMonitorBody } from "./wire";
import { validateNewMonitor } from "./monitors";
import { readParents } from "./dependencies";
import type { MonitorConfig } from "./probes";
import { getMonitorRecord, type MonitorRecord } from "./records";
import { type UnsupportedMonitor, validateUnsupportedMonitor } from "./unsupported";
import { pauseMonitor, resumeMonitor, saveMonitor } from "./update";

/** A whole monitor of an import, of a type that can be checked or not. */
export type ReplacingMonitor = CreateMonitorBody | (UnsupportedMonitor & { type: "unsupported" });

/** Validates a monitor of an import and completes its settings, without writing. Throws `validation_failed`. */
export function validateReplacingMonitor(reader: Reader, input: ReplacingMonitor) {
  return input.type === "unsupported"
    ? validateUnsupportedMonitor(reader, input)
    : validateNewMonitor(reader, input);
}

/**
 * Replaces all settings of a monitor, also the secrets, by those of a new one; its id, ref, tokens and history stay.
 * One that could not be checked may get another type. It watches the components and depends on the monitors that
 * are named.
 *
 * Throws `not_found`, `validation_failed` that names every invalid field, or `conflict` for another type.
 */
export function replaceMonitor(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: ReplacingMonitor,
  actor: Actor,
): MonitorRecord {
  const before = getMonitorRecord(tx, id);
  const { type: typeBefore } = before.row;
  const { name, type } = input;
  if (type !== typeBefore && typeBefore !== "unsupported") {
    throw conflict(`It is of the type ${typeBefore} here, which cannot become ${type}.`);
  }
  const valid = validateReplacingMonitor(tx, input);
  const errors = new FieldErrors();
  const parentIds = readParents(tx, errors, input.depends_on ?? [], id);
  errors.throwIfAny();
  const config: MonitorConfig = valid.config;
  const desired = { ...before.row, ...valid.settings, name, type, config };
  saveMonitor(ctx, tx, before, { ...valid, desired, parentIds }, actor);
  const isPaused = type === "unsupported" || input.paused === true;
  return (isPaused ? pauseMonitor : resumeMonitor)(ctx, tx, id, actor);
}
