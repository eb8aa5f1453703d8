import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, Text } from "../../../base/schema";
import { TLS_VERSIONS } from "../../../egress/model";
import type { Probe } from "../monitoring";

/** Secret fields of a config: a text, or each value of a record. */
type SecretFields = NonNullable<Probe<never, object>["secrets"]>;

type Values = Readonly<Record<string, string | null>>;

const VALUES_MAX = 30;

/** Returns the schema of a record with secret values. `description` is a sentence about them. */
export function SecretValues({ description }: { description: string }) {
  return Type.Record(Type.String(), Nullable(Text({ maxLength: 4_000 })), {
    maxProperties: VALUES_MAX,
    description: `${description} Values are secrets and are never returned. In a change, an omitted name keeps its value and null removes it.`,
  });
}

/** Returns the name of the field that shows if a secret is stored, or the names of stored values. */
export function storedField(field: string, kind: SecretFields[string]): string {
  return kind === "text" ? `has_${field}` : `${field.replace(/s$/, "")}_names`;
}

/** Returns the schemas of the fields that take the place of the secrets in a shown config. */
export function shownSecretFields(secrets: SecretFields): TProperties {
  const fields = Object.entries(secrets).map(([field, kind]) => [
    storedField(field, kind),
    kind === "text"
      ? Type.Boolean({ description: `True if there is a ${field}. It is never returned.` })
      : Type.Array(Type.String(), {
          description: `Names in ${field}. Their values are never returned.`,
        }),
  ]);
  return Object.fromEntries(fields);
}

/** Returns the schema of a config as it is shown, with facts about the secrets instead of them. */
export function shownConfig(config: TObject, secrets: SecretFields): TObject {
  const open = Object.entries(config.properties).filter(
    ([field]) => !Object.hasOwn(secrets, field),
  );
  return Type.Object({ ...Object.fromEntries(open), ...shownSecretFields(secrets) });
}

/** Servers that get a secret, and all else that decides its use; undefined for an invalid server. */
export type Uses = readonly (string | undefined)[];

/** Returns true if a use is not one of those before. */
function addsUse(before: Uses, after: Uses): boolean {
  return after.some((use) => !before.includes(use));
}

/** Detail of the error for a stored secret that a change would use in another way than before. */
const OTHER_USE = "is a secret for another server or request: enter it again, or remove it";

/**
 * Returns a function that names the uses of a config's secrets: its fields other than `neutral`, which do not change
 * what a check sends, nor to which server. New fields therefore count.
 */
export function usesByFields<Config extends object>(
  schema: TObject,
  neutral: readonly string[],
  completed: (config: Config) => object,
): (config: Config) => Uses {
  const names = Object.keys(schema.properties).filter((name) => !neutral.includes(name));
  return (config) => {
    const all = { ...config, ...completed(config) };
    return names.flatMap((name) => {
      const value = fieldOf(all, name) ?? null;
      if (isStricter(name, value)) return [];
      return name === "tls_min"
        ? versionsOf(String(value))
        : [`${name} ${JSON.stringify(name === "url" ? hrefOf(String(value)) : value, sortedKeys)}`];
    });
  };
}

/** Returns true for a value that is no use: no more authorities, no permission, and the verification of servers. */
function isStricter(name: string, value: unknown): boolean {
  if (name === "ca" || name.startsWith("allow_")) return !value;
  return (name === "verify_tls" && value === true) || (name === "tls" && value === "verify");
}

/** Names the versions of TLS that may be used: an older one is one more use. */
export function versionsOf(oldest: string): string[] {
  return TLS_VERSIONS.filter((version) => version >= oldest).map((each) => `TLS ${each}`);
}

/** Headers by which servers choose another method, host, path or action. */
const STEERING =
  /^(?:x-(?:http-)?(?:method|host)(?:-override)?|x-(?:original|rewrite)-(?:ur[il]|host)|x-forwarded-.*|forwarded|x-amz-target|soapaction|destination)$/i;

/** Names the headers of a request that choose what the server is asked to do, with their values. */
export function steeringUsesOf(headers: Values | null | undefined): Uses {
  return Object.entries(headers ?? {})
    .filter(([name, value]) => value !== null && STEERING.test(name))
    .map(([name, value]) => `header ${name.toLowerCase()} ${value}`);
}

/** Returns a URL in canonical spelling, and any other text as it is. */
function hrefOf(text: string): string {
  return URL.parse(text)?.href ?? text;
}

/** Replaces an object in JSON by one whose keys have an order of their own. */
function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the functions of a probe that concern its secrets. `usesOf` names their uses: if a change adds one, secrets
 * that it does not give again are dropped. Otherwise anyone who may change a monitor could have them sent to another
 * server, or use the rights that they give.
 */
export function secretRules<Config extends object>(
  secrets: SecretFields,
  usesOf: (config: Config) => Uses,
) {
  const movesAway = (before: Config, change: Partial<Config>) =>
    addsUse(usesOf(before), usesOf({ ...before, ...change }));

  return {
    secrets,

    /** Returns the config as it is shown, without secrets. */
    withoutSecrets(config: Config): Record<string, unknown> {
      const open = Object.entries(config).filter(([field]) => !Object.hasOwn(secrets, field));
      const stored = Object.entries(secrets).map(([field, kind]) => {
        const value = fieldOf(config, field);
        const shown = kind === "text" ? value != null : Object.keys(givenValues(value));
        return [storedField(field, kind), shown];
      });
      return Object.fromEntries([...open, ...stored]);
    },

    /** Returns the config after a change; null removes a field. */
    merge(before: Config, change: Partial<Config>): Config {
      const none = Object.fromEntries(Object.keys(secrets).map((field) => [field, null]));
      const kept = movesAway(before, change) ? { ...before, ...none } : before;
      const merged = new Map(Object.entries({ ...kept, ...change }));
      for (const [field, kind] of Object.entries(secrets)) {
        const values = fieldOf(change, field);
        if (kind === "values" && values != null) {
          merged.set(field, mergeValues(givenValues(fieldOf(kept, field)), values as Values));
        }
      }
      return Object.fromEntries(Array.from(merged).filter(([, value]) => value != null)) as Config;
    },

    /**
     * Returns errors for secrets that a change would drop; the caller must give them again, or null to
     * remove them.
     */
    validateChange(before: Config, change: Partial<Config>): FieldError[] {
      if (!movesAway(before, change)) return [];
      const dropped = Object.entries(secrets).filter(
        ([field, kind]) => !isSettled(kind, fieldOf(before, field), fieldOf(change, field)),
      );
      return dropped.map(([field]) => ({ pointer: pointer(field), detail: OTHER_USE }));
    },
  };
}

function fieldOf(config: object, field: string): unknown {
  return (config as Record<string, unknown>)[field];
}

/** Returns the values of a record that are not null; none for a missing record. */
export function givenValues(record: unknown): Record<string, string> {
  // Assignment would lose a name such as __proto__.
  const entries = Object.entries((record ?? {}) as Values);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] != null));
}

/** Merges values by name, case-insensitively; null removes one. */
function mergeValues(before: Values, change: Values): Values {
  const changed = new Set(Object.keys(change).map((name) => name.toLowerCase()));
  const kept = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()));
  return Object.fromEntries([...kept, ...Object.entries(givenValues(change))]);
}

/** Returns true if a change says what becomes of each secret of a field. */
function isSettled(kind: SecretFields[string], before: unknown, given: unknown): boolean {
  if (kind === "text") return given !== undefined || before == null;
  if (given === null) return true;
  const named = new Set(Object.keys((given ?? {}) as Values).map((name) => name.toLowerCase()));
  return Object.keys(givenValues(before)).every((name) => named.has(name.toLowerCase()));
}

type Parts = Readonly<Record<string, unknown>>;

/** Returns the schema of a secret part of an object in a config. */
export function secretPart(maxLength: number) {
  return Type.Optional(
    Text({
      maxLength,
      description:
        "It is a secret and is never returned. In a change, it stays if it is omitted, and null removes it.",
    }),
  );
}

/** Secret parts of an object in a config. */
interface PartRules<Config> {
  names: readonly string[];
  /** Names the uses of these parts. */
  usesOf: (config: Config) => Uses;
}

/**
 * Returns the functions of a probe that concern secret parts of objects in its config, by field. An object
 * in a change replaces the stored one, but keeps secret parts that it leaves out. They are dropped if the
 * change adds a use.
 */
export function secretPartRules<Config extends object>(
  rules: Readonly<Record<string, PartRules<Config>>>,
) {
  const entries = Object.entries(rules).flatMap(([field, { names, usesOf }]) =>
    names.map((name) => ({ field, name, usesOf })),
  );

  return {
    secretParts: Object.fromEntries(
      Object.entries(rules).map(([field, { names }]) => [field, names]),
    ),

    /** Returns `merged`, the config after a change, with the secret parts that stay. */
    keep(before: Config, change: Partial<Config>, merged: Config): Config {
      const kept: Config = { ...merged };
      for (const { field, name, usesOf } of entries) {
        const parts = partsOf(kept, field);
        if (!parts) continue;
        const { [name]: _, ...open } = parts;
        const given = partsOf(change, field)?.[name];
        const isExposed = addsUse(usesOf(before), usesOf(merged));
        const stored = isExposed ? null : partsOf(before, field)?.[name];
        const secret = given === undefined ? stored : given;
        Object.assign(kept, { [field]: secret == null ? open : { ...open, [name]: secret } });
      }
      return kept;
    },

    /** Returns errors for secret parts that a change would drop without naming them. */
    validateChange(before: Config, change: Partial<Config>): FieldError[] {
      const after = { ...before, ...change };
      const dropped = entries.filter(
        ({ field, name, usesOf }) =>
          partsOf(before, field)?.[name] != null &&
          partsOf(after, field) !== undefined &&
          partsOf(change, field)?.[name] === undefined &&
          addsUse(usesOf(before), usesOf(after)),
      );
      return dropped.map(({ field, name }) => ({
        pointer: pointer(field, name),
        detail: OTHER_USE,
      }));
    },
  };
}

/** Returns the schema of a field with secret parts, which may be null in a change and in a file. */
export function withNullableParts(schema: TSchema, names: readonly string[] = []): TSchema {
  const nullable = names.map((name) => [name, Nullable(schema["properties"][name])]);
  return names.length === 0
    ? schema
    : { ...schema, properties: { ...schema["properties"], ...Object.fromEntries(nullable) } };
}

/** Returns the object in a field; undefined without one. */
function partsOf(config: object, field: string): Parts | undefined {
  const value = (config as Record<string, unknown>)[field];
  return typeof value === "object" && value !== null ? (value as Parts) : undefined;
}
