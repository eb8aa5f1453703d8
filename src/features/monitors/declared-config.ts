import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { MonitorType } from "../../domain/monitor-state";
import { Nullable } from "../../kernel/schema";
import { concealedSecrets, secretsOf, type WantedSecrets, wantedSecrets } from "./declared-secrets";
import { type MonitorConfig, probeOf } from "./probes";

/*
 * The config of a monitor in a file. It is told whole: a field that is left out has its default. Of secrets,
 * see `declared-secrets.ts`.
 */

const schemaOf = (type: MonitorType) => probeOf(type).config as TObject;

/** The schema of such a config: that of a creating body, where a secret may be null. */
export function declaredConfigSchema(type: MonitorType): TSchema {
  const fields = Object.entries(schemaOf(type).properties).map(([field, schema]) => [
    field,
    secretsOf(type)[field] === "text" ? Type.Optional(Nullable(schema)) : schema,
  ]);
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

/** A config as a file tells it: without what has its default, and with null in the place of each secret. */
export function declareConfig(type: MonitorType, config: MonitorConfig): MonitorConfig {
  const { properties, required = [] } = schemaOf(type);
  const least = Object.fromEntries(required.map((field) => [field, config[field]]));
  const [open, defaults] = [openFields(type, config), openFields(type, least)];
  const secrets = concealedSecrets(type, config);
  const told = Object.keys(properties).flatMap((field) => {
    if (field in secrets) return [[field, secrets[field]]];
    const isDefault = Bun.deepEquals(open[field], defaults[field]);
    return required.includes(field) || !isDefault ? [[field, open[field]]] : [];
  });
  return Object.fromEntries(told);
}

/**
 * Returns the desired config of a new monitor, or of one with a known config. `present` and
 * `wanted` are both by field, without secrets, for comparison and display.
 */
export function wantedConfig(
  type: MonitorType,
  declared: MonitorConfig,
  known?: MonitorConfig,
): WantedSecrets {
  const fields = Object.keys(schemaOf(type).properties).filter((field) => !secretsOf(type)[field]);
  const orNull = (config: MonitorConfig) =>
    Object.fromEntries(fields.map((field) => [field, config[field] ?? null]));
  const present = known ? openFields(type, known) : {};
  const secrets = wantedSecrets(type, declared, known ?? {});
  const given = fields.filter((field) => declared[field] !== undefined);
  return {
    creation: { ...Object.fromEntries(given.map((f) => [f, declared[f]])), ...secrets.creation },
    change: { ...orNull(declared), ...secrets.change },
    present: { ...orNull(present), ...secrets.present },
    desired: { ...orNull(openFields(type, declared)), ...secrets.desired },
    missing: secrets.missing,
  };
}

/** The fields that are no secrets, those that were left out with their defaults. */
function openFields(type: MonitorType, config: MonitorConfig): MonitorConfig {
  const { properties } = schemaOf(type);
  const shown = Object.entries(probeOf(type).present(config));
  return Object.fromEntries(
    shown.filter(([field]) => field in properties && !secretsOf(type)[field]),
  );
}
