import { type TSchema, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { Nullable, Text } from "../../../base/schema";
import { addsUse, OTHER_USE, type Uses } from "./secrets";

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
