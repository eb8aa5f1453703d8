/** A monitor in a configuration file. A field that is left out has its default. */
interface DeclaredMonitor extends MonitorSettings {
  name: string;
  type: SupportedType;
  paused?: boolean;
  config?: MonitorConfig;
}

/** Returns the schema of a monitor in a file, with further fields of the file. */
export function declaredMonitorSchema<More>(more: TProperties) {
  const shapes = SUPPORTED_TYPES.map((type) => [
    type,
    creationOf(type, declaredConfigSchema(type), more),
  ]);
  return ByTag<DeclaredMonitor & More>("type", Object.fromEntries(shapes));
}

/** Returns errors that the schema of a declared monitor cannot express. */
export function validateDeclaredMonitor(monitor: DeclaredMonitor): readonly FieldError[] {
  const errors = new FieldErrors();
  validateConfig(errors, monitor.type, monitor.config ?? {}, monitor.paused);
  validateSettings(errors, monitor.type, settingsOf(monitor), monitor.config ?? {});
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
  const at = (inner: string) => `#/config${inner.slice(1)}`;
  return { ...monitor, config: mapSecrets(type, config, (text, inner) => change(text, at(inner))) };
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
    group: settings.group,
    tags: settings.tags,
    notes: settings.notes,
  };
}

/*
 * The config of a monitor in a file. A field that is left out has its default, except secrets
 * (`declared-secrets.ts`).
 */
import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import { type FieldError, pointer } from "../../base/errors";
import { ByTag, Nullable } from "../../base/schema";
import { describeSecretChange, MISSING_SECRET } from "../../base/secrets";
import { type MonitorType, SUPPORTED_TYPES, type SupportedType } from "../../base/status";
import { FieldErrors } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { listComponentsOfPage } from "../components/store";
import { listAllDependencies } from "./dependency-store";
import {
  createMonitor,
  defaultSettings,
  initialSettings,
  namedSettings,
  validateConfig,
  validateSettings,
} from "./monitors";
import { type MonitorConfig, probeOf, withNullableParts } from "./probes";
import { listAllMonitors, listComponentsOfMonitors, type MonitorRow } from "./store";
import { pauseMonitor, resumeMonitor, updateMonitor } from "./update";
import { creationOf, type MonitorSettings } from "./wire";

const schemaOf = (type: MonitorType) => probeOf(type).config as TObject;

/**
 * Returns the schema of a config in a file: that of a create body, in which secrets may be null, or empty to
 * remove them.
 */
export function declaredConfigSchema(type: MonitorType): TSchema {
  const { secretParts = {} } = probeOf(type);
  const fields = Object.entries(schemaOf(type).properties).map(([field, schema]) => [
    field,
    secretsOf(type)[field] === "text"
      ? Type.Optional(Nullable({ ...schema, minLength: 0 }))
      : withNullableParts(schema, secretParts[field]),
  ]);
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

/**
 * Returns a stored config as a file describes it, without default values and with null for secrets.
 */
export function declareConfig(type: MonitorType, config: MonitorConfig): MonitorConfig {
  const { properties, required = [] } = schemaOf(type);
  const least = Object.fromEntries(required.map((field) => [field, config[field]]));
  const [open, defaults] = [openFields(type, config), openFields(type, least)];
  const secrets = concealedSecrets(type, config);
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
): DesiredSecrets {
  const fields = Object.keys(schemaOf(type).properties).filter((field) => !secretsOf(type)[field]);
  const orNull = (config: MonitorConfig) =>
    Object.fromEntries(fields.map((field) => [field, config[field] ?? null]));
  const current = stored ? openFields(type, stored) : {};
  const secrets = desiredSecrets(type, declared, stored ?? {});
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

/** Returns the fields that are not secrets, with defaults for those that are left out. */
function openFields(type: MonitorType, config: MonitorConfig): MonitorConfig {
  const { properties } = schemaOf(type);
  const shown = Object.entries(probeOf(type).present(config));
  return Object.fromEntries(
    shown
      .filter(([field]) => field in properties && !secretsOf(type)[field])
      .map(([field, value]) => [field, openParts(type, field, value)]),
  );
}

/*
 * Secrets of monitors in a configuration file. Null keeps a stored secret, and a field that is left
 * out keeps all of its secrets; keeping a secret that is not stored is an error. An empty text
 * removes a secret, and a record removes those that it does not name.
 */

type Fields = Record<string, unknown>;

/** Returns the fields of a type's config that hold secrets. */
function secretsOf(type: MonitorType): Readonly<Record<string, "text" | "values">> {
  return probeOf(type).secrets ?? {};
}

/** Returns the secret parts of objects in a type's config, by field. */
function secretPartsOf(type: MonitorType): [field: string, names: readonly string[]][] {
  return Object.entries(probeOf(type).secretParts ?? {});
}

/** Returns a shown field without the facts about its secret parts. */
function openParts(type: MonitorType, field: string, shown: unknown): unknown {
  const names = probeOf(type).secretParts?.[field];
  if (!names || !isRecord(shown)) return shown;
  const { ...open } = shown;
  for (const name of names) delete open[`has_${name}`];
  return open;
}

/** Returns the secrets of a config, each as null. Objects with secret parts are returned whole. */
function concealedSecrets(type: MonitorType, config: MonitorConfig): Fields {
  const concealed: Fields = {};
  for (const [field, kind] of Object.entries(secretsOf(type))) {
    const names = Object.keys(secretsIn(config[field]));
    if (names.length === 0) continue;
    concealed[field] =
      kind === "text" ? null : Object.fromEntries(names.map((name) => [name, null]));
  }
  for (const [field, names] of secretPartsOf(type)) {
    const parts = config[field];
    if (!isRecord(parts)) continue;
    const stored = names.filter((name) => parts[name] != null);
    concealed[field] = { ...parts, ...Object.fromEntries(stored.map((name) => [name, null])) };
  }
  return concealed;
}

/**
 * Returns the config with each secret replaced by the result of `change`, which receives the secret
 * and its pointer.
 */
function mapSecrets(
  type: MonitorType,
  config: MonitorConfig,
  change: (text: string, at: string) => string,
): MonitorConfig {
  const map = (value: unknown, at: string) =>
    typeof value === "string" ? change(value, at) : value;
  const parts = new Map(secretPartsOf(type));
  const mapped = Object.entries(config).map(([field, value]) => {
    if (parts.has(field) && isRecord(value)) {
      const secrets = parts.get(field)?.filter((name) => value[name] !== undefined) ?? [];
      const entries = secrets.map((name) => [name, map(value[name], pointer(field, name))]);
      return [field, { ...value, ...Object.fromEntries(entries) }];
    }
    if (secretsOf(type)[field] === "text") return [field, map(value, pointer(field))];
    if (!secretsOf(type)[field] || !isRecord(value)) return [field, value];
    const entries = Object.entries(value);
    return [
      field,
      Object.fromEntries(entries.map(([name, text]) => [name, map(text, pointer(field, name))])),
    ];
  });
  return Object.fromEntries(mapped);
}

/** Desired secrets of a new monitor and of an existing one, and both without their values. */
interface DesiredSecrets {
  /** Secrets in the config of a new monitor. */
  creation: Fields;
  /** Changed secrets of an existing monitor. */
  change: Fields;
  current: Fields;
  desired: Fields;
  /** Errors for secrets to keep that are not stored. */
  missing: FieldError[];
}

function desiredSecrets(
  type: MonitorType,
  declared: MonitorConfig,
  current: MonitorConfig,
): DesiredSecrets {
  const outcome: DesiredSecrets = {
    creation: {},
    change: {},
    current: {},
    desired: {},
    missing: [],
  };
  for (const [field, kind] of Object.entries(secretsOf(type))) {
    const before = secretsIn(current[field]);
    const desired = desiredOf(declared[field], before);
    // Maps, since names such as `constructor` and `__proto__` can occur.
    const [creation, change] = [new Map<string, unknown>(), new Map<string, unknown>()];
    for (const [name, text] of Object.entries(desired)) {
      const path = kind === "text" ? [field] : [field, name];
      const stored = Object.hasOwn(before, name) ? before[name] : undefined;
      const described = describeSecretChange(stored, text);
      outcome.current[path.join(".")] = described.current;
      outcome.desired[path.join(".")] = described.desired;
      if (text === null) {
        if (stored === undefined) {
          outcome.missing.push({ pointer: pointer(...path), detail: MISSING_SECRET });
        }
        continue;
      }
      change.set(name, text === "" ? null : text);
      if (text !== "") creation.set(name, text);
    }
    if (creation.size > 0) outcome.creation[field] = ofKind(kind, creation);
    if (change.size > 0) outcome.change[field] = ofKind(kind, change);
  }
  for (const [field, names] of secretPartsOf(type)) addParts(outcome, field, names);
  return outcome;

  /** Adds an object with secret parts. An object that the file leaves out is removed as a whole. */
  function addParts(
    { missing, ...outcomes }: DesiredSecrets,
    field: string,
    names: readonly string[],
  ) {
    const parts = declared[field];
    if (!isRecord(parts)) return;
    const stored = isRecord(current[field]) ? current[field] : {};
    const [creation, change] = [{ ...parts }, { ...parts }];
    for (const name of names) {
      const text = parts[name];
      const described = describeSecretChange(stored[name] ?? undefined, text);
      outcomes.current[`${field}.${name}`] = described.current;
      outcomes.desired[`${field}.${name}`] = described.desired;
      if (text === null && stored[name] == null) {
        missing.push({ pointer: pointer(field, name), detail: MISSING_SECRET });
      }
      if (text == null || text === "") delete creation[name];
      if (text == null) delete change[name];
      else if (text === "") change[name] = null;
    }
    outcomes.creation[field] = creation;
    outcomes.change[field] = change;
  }
}

/** Returns the desired value of each secret of a field: null keeps it, an empty text removes it. */
function desiredOf(
  declared: unknown,
  before: Record<string, string>,
): Record<string, string | null> {
  const all = (value: string | null) =>
    Object.fromEntries(Object.keys(before).map((name) => [name, value]));
  if (declared === undefined) return all(null);
  return isRecord(declared)
    ? { ...all(""), ...(declared as Record<string, string | null>) }
    : { [SINGLE]: declared as string | null };
}

/** Key for the secret of a field with a single one. */
const SINGLE = "";

function secretsIn(value: unknown): Record<string, string> {
  const declaredFields = isRecord(value) ? Object.entries(value) : [[SINGLE, value] as const];
  return Object.fromEntries(
    declaredFields.filter((entry): entry is [string, string] => entry[1] != null),
  );
}

function ofKind(kind: "text" | "values", secrets: ReadonlyMap<string, unknown>): unknown {
  return kind === "text" ? secrets.get(SINGLE) : Object.fromEntries(secrets);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
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
