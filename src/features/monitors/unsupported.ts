import type { Actor } from "../../base/actor";
import type { ManagedMetadata } from "../../base/ids";
import { validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { type AppliedIds, insertNewMonitor } from "./monitors";
import { probeOf } from "./probes/index";
import type { UnsupportedConfig } from "./probes/unsupported";
import type { MonitorRecord } from "./records";
import { readNewMonitor } from "./settings";
import { creationOf, type MonitorSettings, OptionalReferences } from "./wire";

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
