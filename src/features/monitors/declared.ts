/*
 * Monitors in a configuration file. A field that is left out has its default, except secrets, which stay: see
 * `base/secrets.ts`.
 */
import type { TProperties, TSchema } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import type { FieldError } from "../../base/errors";
import type { Manager } from "../../base/ids";
import { ByTag } from "../../base/schema";
import {
  concealedSecrets,
  declaredSchema,
  isSecret,
  mapSecrets,
  planSecrets,
  type SecretPlan,
  withoutFacts,
} from "../../base/secrets";
import { LOCAL, type MonitorType, SUPPORTED_TYPES, type SupportedType } from "../../base/status";
import { FieldErrors, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { listComponentsOfPage } from "../components/store";
import { listAllDependencies } from "./dependency-store";
import { createMonitor, pauseMonitor, resumeMonitor, updateMonitor } from "./monitors";
import {
  defaultSettings,
  initialSettings,
  namedSettings,
  validateConfig,
  validateSettings,
} from "./settings";
import { type MonitorConfig, probeOf } from "./probes";
import { listAllMonitors, listComponentsOfMonitors, type MonitorRow } from "./store";
import { CreateMonitorBody, creationOf, type MonitorSettings, UpdateMonitorBody } from "./wire";

/** A monitor in a configuration file. */
interface DeclaredMonitor extends MonitorSettings {
  name: string;
  type: SupportedType;
  paused?: boolean;
  config?: MonitorConfig;
  /** Refs of locations. */
  locations?: string[];
}

/** Returns the schema of a monitor in a file, with further fields of the file. */
export function declaredMonitorSchema<More>(more: TProperties) {
  const shapes = SUPPORTED_TYPES.map((type) => [
    type,
    creationOf(type, declaredSchema(probeOf(type).config), more),
  ]);
  return ByTag<DeclaredMonitor & More>("type", Object.fromEntries(shapes));
}

/** Returns errors that the schema of a declared monitor cannot express. */
export function validateDeclaredMonitor(monitor: DeclaredMonitor): readonly FieldError[] {
  const errors = new FieldErrors();
  const { type, config = {}, paused = false, locations = [LOCAL] } = monitor;
  validateConfig(errors, type, config, !paused && locations.includes(LOCAL));
  validateSettings(errors, type, settingsOf(monitor), config);
  return errors.all;
}

/**
 * Returns the monitor with each secret replaced by the result of `change`, which receives the
 * secret and its pointer.
 */
export function mapDeclaredSecrets<Monitor extends DeclaredMonitor>(
  monitor: Monitor,
  change: (text: string, at: string) => string,
): Monitor {
  const { type, config } = monitor;
  if (!config) return monitor;
  const mapped = mapSecrets(probeOf(type).config, config, (text, at) =>
    change(text, `#/config${at.slice(1)}`),
  );
  return { ...monitor, config: mapped };
}

/** Returns a stored monitor as a configuration file describes it, with null for secrets. */
export function declareMonitor(row: MonitorRow & { type: SupportedType }): DeclaredMonitor {
  const { name, type, intervalSeconds, paused } = row;
  // Other defaults depend on the interval.
  const usual = intervalOf(initialSettings(type, { config: row.config }));
  const least = { ...defaultSettings(type, intervalSeconds), ...usual };
  const defaults: Record<string, unknown> = namesOf(least);
  const config = declareConfig(type, row.config);
  return {
    name,
    type,
    ...Object.fromEntries(
      Object.entries(namesOf(row)).filter(
        ([field, value]) => !Bun.deepEquals(value, defaults[field]),
      ),
    ),
    ...(paused && { paused }),
    ...(Object.keys(config).length > 0 && { config }),
  };
}

type Settings = ReturnType<typeof defaultSettings>;

const intervalOf = ({ intervalSeconds }: Settings) => ({ intervalSeconds });

/** Returns the settings of a monitor in a file, with defaults for those that are left out. */
function settingsOf(monitor: DeclaredMonitor): Settings {
  return namedSettings(monitor, initialSettings(monitor.type, monitor));
}

/** Returns settings by their names in files and bodies. */
function namesOf(settings: Settings): Required<MonitorSettings> {
  return {
    interval_seconds: settings.intervalSeconds,
    timeout_ms: settings.timeoutMs,
    failure_threshold: settings.failureThreshold,
    success_threshold: settings.successThreshold,
    retry_interval_seconds: settings.retryIntervalSeconds,
    degraded_after_ms: settings.degradedAfterMs,
    on_down: settings.onDown,
    open_incident: settings.openIncident,
    inverted: settings.inverted,
    reminder_seconds: settings.reminderSeconds,
    down_when: settings.downWhen,
    group: settings.group,
    tags: settings.tags,
    notes: settings.notes,
  };
}

/**
 * Returns a stored config as a file describes it, without default values and with null for secrets.
 */
export function declareConfig(type: MonitorType, config: MonitorConfig): MonitorConfig {
  const schema = probeOf(type).config;
  const { properties, required = [] } = schema;
  const least = Object.fromEntries(required.map((field) => [field, config[field]]));
  const [open, defaults] = [openFields(type, config), openFields(type, least)];
  const secrets = concealedSecrets(schema, config);
  const fields = Object.keys(properties).flatMap((field) => {
    if (field in secrets) return [[field, secrets[field]]];
    const isDefault = Bun.deepEquals(open[field], defaults[field]);
    return required.includes(field) || !isDefault ? [[field, open[field]]] : [];
  });
  return Object.fromEntries(fields);
}

/**
 * Returns the desired config of a new monitor, or of one with a stored config. `current` and
 * `desired` hold both states by field, without secrets, for comparison and display.
 */
export function desiredConfig(
  type: MonitorType,
  declared: MonitorConfig,
  stored?: MonitorConfig,
): SecretPlan {
  const schema = probeOf(type).config;
  const fields = Object.entries<TSchema>(schema.properties).flatMap(([field, each]) =>
    isSecret(each) ? [] : [field],
  );
  const orNull = (config: MonitorConfig) =>
    Object.fromEntries(fields.map((field) => [field, config[field] ?? null]));
  const current = stored ? openFields(type, stored) : {};
  const secrets = planSecrets(schema, declared, stored ?? {});
  const declaredFields = fields.filter((field) => declared[field] !== undefined);
  return {
    creation: {
      ...Object.fromEntries(declaredFields.map((f) => [f, declared[f]])),
      ...secrets.creation,
    },
    change: { ...orNull(declared), ...secrets.change },
    current: { ...orNull(current), ...secrets.current },
    desired: { ...orNull(openFields(type, declared)), ...secrets.desired },
    missing: secrets.missing,
  };
}

/** Returns the fields and parts that are not secrets, with defaults for those that are left out. */
function openFields(type: MonitorType, config: MonitorConfig): MonitorConfig {
  return withoutFacts(probeOf(type).config, probeOf(type).present(config));
}

/** A stored monitor with the ids of its components and of the monitors on which it depends. */
interface StoredMonitor {
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
 * Returns the refs of monitors that an export leaves out: those that no file can describe, and those that labels of
 * containers declare. With `pageId` only of those with a component of that page.
 */
export function listRefsLeftOut(
  reader: Reader,
  pageId: string | undefined,
): { undeclarable: string[]; labelled: string[] } {
  const page = pageId && new Set(listComponentsOfPage(reader, { pageId }).map(({ id }) => id));
  const stored = listStoredMonitors(reader).filter(
    ({ componentIds }) => !page || componentIds.some((id) => page.has(id)),
  );
  const refsOf = (monitors: StoredMonitor[]) => monitors.map(({ row }) => row.ref);
  return {
    undeclarable: refsOf(stored.filter((monitor) => !isDeclarable(monitor))),
    labelled: refsOf(stored.filter(({ row }) => row.managedBy === "docker")),
  };
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
  /** Manager of a new monitor. */
  managedBy: Manager;
  componentIds: string[];
  /** Not validated: see `findInvalidChain`. */
  parentIds: string[];
  locationIds: string[];
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
    create(ctx, tx, { componentIds, locationIds, ...identity }, actor) {
      const fields = { name, type, ...settings, paused, config: config.creation };
      const input = { ...fields, component_ids: componentIds, locations: locationIds };
      return createMonitor(ctx, tx, validate(CreateMonitorBody, input), actor, identity).record.row;
    },
    update(ctx, tx, { ref, id, componentIds, parentIds, locationIds }, actor) {
      const fields = { name, ...settings, config: config.change };
      const input = { ...fields, component_ids: componentIds, locations: locationIds };
      updateMonitor(ctx, tx, id, validate(UpdateMonitorBody, input), actor, { ref, parentIds });
      return (paused ? pauseMonitor : resumeMonitor)(ctx, tx, id, actor).row;
    },
  };
}

function within(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => [`config.${field}`, value]),
  );
}
