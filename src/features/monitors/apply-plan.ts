import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { FieldErrors } from "../../base/validation";
import type { Actor } from "../../base/actor";
import type { SupportedType } from "../../base/status";
import { listComponentsOfPage } from "../components/store";
import { createMonitor } from "./create";
import { listAllDependencies } from "./dependency-store";
import { type DeclaredMonitor, namesOf, settingsOf, desiredConfig } from "./declared";
import { pauseMonitor, resumeMonitor, updateMonitor } from "./update";
import { listAllMonitors, listComponentsOfMonitors, type MonitorRow } from "./store";

/** A stored monitor with the ids of its components and of the monitors on which it depends. */
export interface StoredMonitor {
  row: MonitorRow;
  componentIds: readonly string[];
  parentIds: readonly string[];
}

/** A monitor that a file can describe. */
export type DeclarableMonitor = StoredMonitor & { row: { type: SupportedType } };

/** Returns false for a monitor that this version cannot check: its settings are not known. */
export function isDeclarable(monitor: StoredMonitor): monitor is DeclarableMonitor {
  return monitor.row.type !== "unsupported";
}

/**
 * Returns the refs of monitors that no file can describe; with `pageId` only of those with a component of
 * that page.
 */
export function listUndeclarableRefs(reader: Reader, pageId: string | undefined): string[] {
  const page = pageId && new Set(listComponentsOfPage(reader, { pageId }).map(({ id }) => id));
  return listStoredMonitors(reader)
    .filter((monitor) => !isDeclarable(monitor))
    .filter(({ componentIds }) => !page || componentIds.some((id) => page.has(id)))
    .map(({ row }) => row.ref);
}

/** Lists all monitors, oldest first. */
export function listStoredMonitors(reader: Reader): StoredMonitor[] {
  const rows = listAllMonitors(reader, {}).map(({ monitor }) => monitor);
  if (rows.length === 0) return [];
  const monitorIds = JSON.stringify(rows.map(({ id }) => id));
  const scheduled = Map.groupBy(
    listComponentsOfMonitors(reader, { monitorIds }),
    ({ monitorId }) => monitorId,
  );
  const componentsOf = ({ id }: MonitorRow) => (scheduled.get(id) ?? []).map((one) => one.id);
  const parents = Map.groupBy(listAllDependencies(reader, {}), ({ monitorId }) => monitorId);
  const parentsOf = ({ id }: MonitorRow) => (parents.get(id) ?? []).map((one) => one.parentId);
  return rows.map((row) => ({
    row,
    componentIds: componentsOf(row),
    parentIds: parentsOf(row),
  }));
}

/** Identity of a file's monitor, the components that it watches and the monitors on which it depends. */
interface MonitorAssignment {
  ref: string;
  /** Id of the monitor, or the one that a new monitor gets. */
  id: string;
  componentIds: string[];
  /** Not validated: see `findInvalidChain`. */
  parentIds: string[];
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
  create(ctx: Ctx, tx: Tx, assignment: MonitorAssignment, actor: Actor): MonitorRow;
  /** Throws as `updateMonitor` does. */
  update(ctx: Ctx, tx: Tx, assignment: MonitorAssignment, actor: Actor): MonitorRow;
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
    create(ctx, tx, { componentIds, ...identity }, actor) {
      const fields = { name, type, ...settings, paused, config: config.creation };
      const input = { ...fields, component_ids: componentIds };
      const metadata = { ...identity, managedBy: "apply" } as const;
      return createMonitor(ctx, tx, input, actor, metadata).record.row;
    },
    update(ctx, tx, { ref, id, componentIds, parentIds }, actor) {
      const input = { name, ...settings, config: config.change, component_ids: componentIds };
      updateMonitor(ctx, tx, id, input, actor, { ref, parentIds });
      return (paused ? pauseMonitor : resumeMonitor)(ctx, tx, id, actor).row;
    },
  };
}

function within(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => [`config.${field}`, value]),
  );
}
