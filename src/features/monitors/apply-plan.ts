import type { Reader, Tx } from "../../db";
import { FieldErrors } from "../../errors";
import type { Actor } from "../../domain/actor";
import type { Services } from "./changes";
import { createMonitor } from "./create";
import { type DeclaredMonitor, namesOf, settingsOf, desiredConfig } from "./declared";
import { pauseMonitor, resumeMonitor, updateMonitor } from "./update";
import { listAllMonitors, listComponentsOfMonitors, type MonitorRow } from "./store";

/** A stored monitor with the ids of its components. */
export interface StoredMonitor {
  row: MonitorRow;
  componentIds: readonly string[];
}

/** Lists all monitors, oldest first. */
export function listStoredMonitors(reader: Reader): StoredMonitor[] {
  const rows = listAllMonitors(reader, {}).map(({ monitor }) => monitor);
  const monitorIds = JSON.stringify(rows.map(({ id }) => id));
  const scheduled = Map.groupBy(
    listComponentsOfMonitors(reader, { monitorIds }),
    ({ monitorId }) => monitorId,
  );
  const componentsOf = ({ id }: MonitorRow) => (scheduled.get(id) ?? []).map((one) => one.id);
  return rows.map((row) => ({ row, componentIds: componentsOf(row) }));
}

/** Identity of a file's monitor and the components that it watches. */
interface MonitorAssignment {
  ref: string;
  componentIds: string[];
}

/**
 * Desired state of a monitor by field, for comparison and display, with the functions that create
 * and change it.
 */
interface MonitorPlan {
  /** Secrets are replaced by a marker. */
  current: Readonly<Record<string, unknown>>;
  desired: Readonly<Record<string, unknown>>;
  /** Throws as `createMonitor` does. */
  create(ctx: Services, tx: Tx, assignment: MonitorAssignment, actor: Actor): MonitorRow;
  /** Throws as `updateMonitor` does. */
  update(ctx: Services, tx: Tx, assignment: MonitorAssignment, actor: Actor): MonitorRow;
}

/**
 * Returns the plan for a new or existing monitor. Throws `validation_failed` for another type, and
 * for a secret to keep that is not stored.
 */
export function planMonitor(monitor: DeclaredMonitor, row: MonitorRow | undefined): MonitorPlan {
  const { name, type, paused = false } = monitor;
  const errors = new FieldErrors();
  if (row && row.type !== type) {
    errors.add(["type"], `is ${row.type} and cannot change; use another ref for another type`);
    errors.throwIfAny();
  }
  const config = desiredConfig(type, monitor.config ?? {}, row?.config);
  errors.addAll(["config"], config.missing);
  errors.throwIfAny();
  const settings = namesOf(settingsOf(monitor));
  return {
    current: row
      ? { name: row.name, ...namesOf(row), paused: row.paused, ...within(config.current) }
      : {},
    desired: { name, ...settings, paused, ...within(config.desired) },
    create(ctx, tx, { ref, componentIds }, actor) {
      const fields = { name, type, ...settings, paused, config: config.creation };
      const input = { ...fields, component_ids: componentIds };
      return createMonitor(ctx, tx, input, actor, { ref, managedBy: "apply" }).record.row;
    },
    update(ctx, tx, { ref, componentIds }, actor) {
      const { id } = row ?? {};
      if (id === undefined) throw new Error("a missing monitor cannot be changed");
      const input = { name, ...settings, config: config.change, component_ids: componentIds };
      updateMonitor(ctx, tx, id, input, actor, { ref });
      return (paused ? pauseMonitor : resumeMonitor)(ctx, tx, id, actor).row;
    },
  };
}

function within(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => [`config.${field}`, value]),
  );
}
