import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict } from "../../base/errors";
import { type FieldErrors, validate } from "../../base/validation";
import type { Actor } from "../../base/actor";
import type { ManagedMetadata } from "../../base/ids";
import {
  creationOf,
  type MonitorSettings,
  OptionalReferences,
  type UpdateMonitorBody,
} from "./wire";
import { type AppliedIds, insertNewMonitor, readNewMonitor } from "./monitors";
import { probeOf } from "./probes";
import { originOf } from "./probes/unsupported";
import type { UnsupportedConfig } from "./probes/unsupported";
import type { MonitorRecord } from "./records";
import type { MonitorRow } from "./store";

/*
 * Imported monitors of types that this version cannot check. They are always paused and keep their
 * settings, so that a version that knows the type can check them.
 */

/** An imported monitor. Its settings are kept for a version that checks its type. */
export interface UnsupportedMonitor extends MonitorSettings {
  name: string;
  config: UnsupportedConfig;
  component_ids?: string[];
  depends_on?: string[];
}

const UnsupportedMonitorBody = creationOf(
  "unsupported",
  probeOf("unsupported").config,
  OptionalReferences,
);

/**
 * Creates a paused monitor of a type that this version cannot check. Only importers do: requests, forms and
 * files are rejected. Throws `validation_failed` that names every invalid field, or `conflict` for a ref
 * that is taken.
 */
export function createUnsupportedMonitor(
  ctx: Ctx,
  tx: Tx,
  monitor: UnsupportedMonitor,
  actor: Actor,
  metadata: ManagedMetadata & AppliedIds = {},
): MonitorRecord {
  const input = { ...monitor, type: "unsupported" } as const;
  const created = { ...input, paused: true, ...validateUnsupportedMonitor(tx, input) };
  return insertNewMonitor(ctx, tx, created, actor, metadata).record;
}

/** Validates such a monitor and completes its settings, without writing. Throws `validation_failed`. */
export function validateUnsupportedMonitor(
  reader: Reader,
  monitor: UnsupportedMonitor & { type: "unsupported" },
) {
  validate(UnsupportedMonitorBody, monitor);
  return readNewMonitor(reader, monitor);
}

/** Throws `conflict` that names the type of a monitor which this version cannot check. */
export function requireSupported({ type, config }: Pick<MonitorRow, "type" | "config">): void {
  if (type !== "unsupported") return;
  const origin = originOf(config);
  throw conflict(
    `This version cannot check monitors of the type ${origin.type}, imported from ${origin.source}.`,
  );
}

/** Fields of such a monitor that can be changed. The others are kept as they were imported. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  "name",
  "component_ids",
  "group",
  "tags",
  "notes",
] satisfies (keyof UpdateMonitorBody)[]);

/** Adds errors of fields that cannot be changed, since this version cannot check the monitor. */
export function validateChangeable(
  errors: FieldErrors,
  { type }: Pick<MonitorRow, "type">,
  input: object,
): void {
  if (type !== "unsupported") return;
  for (const field of Object.keys(input).filter((name) => !CHANGEABLE.has(name))) {
    errors.add([field], "cannot be changed, since this version cannot check the monitor");
  }
}
