import { type TProperties, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { FieldErrors } from "../../base/validation";
import type { FieldError } from "../../base/errors";
import { type MonitorType, SUPPORTED_TYPES, type SupportedType } from "../../base/status";
import { ByTag, Nullable } from "../../base/schema";
import { creationOf, type MonitorSettings } from "./bodies";
import {
  mapSecrets,
  concealedSecrets,
  secretsOf,
  type DesiredSecrets,
  desiredSecrets,
  openParts,
} from "./declared-secrets";
import { type MonitorConfig, probeOf, withNullableParts } from "./probes";
import {
  defaultSettings,
  initialSettings,
  validateConfig,
  validateSettings,
  namedSettings,
} from "./settings";
import type { MonitorRow } from "./store";

/** A monitor in a configuration file. A field that is left out has its default. */
export interface DeclaredMonitor extends MonitorSettings {
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
export function settingsOf(monitor: DeclaredMonitor): Settings {
  return namedSettings(monitor, initialSettings(monitor.type, monitor));
}

/** Returns settings by their names in files and bodies. */
export function namesOf(settings: Settings): Required<MonitorSettings> {
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
