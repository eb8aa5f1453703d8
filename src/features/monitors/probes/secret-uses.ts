import type { TObject } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import {
  addsUse,
  keptSecrets,
  mergeSecrets,
  shownSchema,
  type Uses,
  withoutSecrets,
} from "../../../base/secrets";
import { TLS_VERSIONS } from "../../../egress/model";

/**
 * Returns the members of a probe that follow from the schema of a config with secrets. `completed` returns a config with
 * its defaults. `usesOf` names the uses of the secrets of a field: if a change adds one, secrets that it does not give
 * again are dropped.
 */
export function partsWithSecrets<Config extends object>(
  schema: TObject,
  completed: (config: Config) => object,
  usesOf: (config: Config, field: string) => Uses,
) {
  const exposureBy = (before: Config, change: Partial<Config>) => {
    const after = { ...before, ...change };
    return (field: string) => addsUse(usesOf(before, field), usesOf(after, field));
  };
  return {
    config: schema,
    shown: shownSchema(schema),
    present: (config: Config) => withoutSecrets(schema, completed(config)),
    merge: (before: Config, change: Partial<Config>) =>
      mergeSecrets(schema, before, change, exposureBy(before, change)),

    /** Returns errors for secrets that a change would drop: the caller must give them again, or null to remove them. */
    validateChange(before: Config, change: Partial<Config>): FieldError[] {
      const isExposed = exposureBy(before, change);
      return keptSecrets(schema, before, change)
        .filter(([field = ""]) => isExposed(field))
        .map((path) => ({ pointer: pointer(...path), detail: OTHER_USE }));
    },
  };
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
      const value = (all as Record<string, unknown>)[name] ?? null;
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
export function steeringUsesOf(
  headers: Readonly<Record<string, string | null>> | null | undefined,
): Uses {
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
