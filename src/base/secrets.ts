/*
 * Secrets of objects that a schema describes, such as the config of a monitor. A field is declared once, by `Secret`, as
 * a text or as a part of an object, or by `SecretValues`. From the schema follow the fields of answers, the merge of a
 * change, the secrets that another server or recipient asks for again, and all that a configuration file may say.
 */
import {
  Kind,
  type ObjectOptions,
  OptionalKind,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "@sinclair/typebox";
import { type FieldError, pointer } from "./errors";
import { defineKind, describeViolation, Nullable, Text, type TextOptions } from "./schema";

// A symbol, as those of `schema.ts`, so that it is not published and copies keep it.
const IsSecret = Symbol("secret");

/** Schema of a secret text. */
export function Secret(options: TextOptions) {
  return Type.Unsafe<string>({ ...Text(options), [IsSecret]: true });
}

/** Schema of a secret part of an object. */
export function SecretPart(maxLength: number) {
  const description =
    "It is a secret and is never returned. In a change, it stays if it is omitted, and null removes it.";
  return Type.Optional(Secret({ maxLength, description }));
}

const VALUES_MAX = 30;

/** Schema of a record with secret values. `description` is a sentence about them. */
export function SecretValues({ description }: { description: string }) {
  const record = Type.Record(Type.String(), Nullable(Text({ maxLength: 4_000 })), {
    maxProperties: VALUES_MAX,
    description: `${description} Values are secrets and are never returned. In a change, an omitted name keeps its value and null removes it.`,
  });
  return { ...record, [IsSecret]: true };
}

export function isSecret(schema: TSchema): boolean {
  return IsSecret in schema;
}

/** Returns true for a field that is a secret text or a record of secret values. */
export function isSecretField({ properties }: TObject, field: string): boolean {
  const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
  return schema !== undefined && isSecret(schema);
}

/** Field that holds secrets: a text, the values of a record, or parts of an object. */
interface SecretField {
  field: string;
  kind: "text" | "values" | "parts";
  /** Names of the secret parts of an object, and of its other parts. */
  parts: readonly string[];
  openParts: readonly string[];
  /** True for a text that a new object must have. */
  isRequired: boolean;
}

/** Path of a secret: its field, or its field and the name of a value or a part. */
type SecretPath = readonly string[];

/** Fields by schema. Schemas are constant, and each monitor that is shown needs its fields. */
const fieldsBySchema = new WeakMap<TObject, readonly SecretField[]>();

/** Returns the fields of an object that hold secrets, in order. */
export function secretFields(schema: TObject): readonly SecretField[] {
  const known = fieldsBySchema.get(schema);
  if (known) return known;
  const fields = Object.entries<TSchema>(schema.properties).flatMap(
    ([field, each]): SecretField[] => {
      const parts = secretParts(each);
      const openParts = Object.keys(each["properties"] ?? {}).filter(
        (name) => !parts.includes(name),
      );
      const secret = { field, parts, openParts, isRequired: false };
      if (parts.length > 0) return [{ ...secret, kind: "parts" }];
      if (!isSecret(each)) return [];
      if (each[Kind] === "Record") return [{ ...secret, kind: "values" }];
      return [{ ...secret, kind: "text", isRequired: !(OptionalKind in each) }];
    },
  );
  fieldsBySchema.set(schema, fields);
  return fields;
}

function secretParts(schema: TSchema): string[] {
  const parts = Object.entries<TSchema>(schema["properties"] ?? {});
  return parts.flatMap(([name, part]) => (isSecret(part) ? [name] : []));
}

/** Returns the secrets of an object that are set. */
export function secretsIn(schema: TObject, value: object): { path: SecretPath; text: string }[] {
  return secretFields(schema).flatMap((secret) =>
    [...textsIn(secret, fieldOf(value, secret.field))].flatMap(([name, text]) =>
      typeof text === "string" ? [{ path: pathOf(secret, name), text }] : [],
    ),
  );
}

/** Name under which the secret of a field with a single one is listed. */
const SINGLE = "";

/** Returns the secrets in the content of a field by name. A map, since names such as `__proto__` can occur. */
function textsIn({ kind, parts }: SecretField, content: unknown): Map<string, unknown> {
  if (kind === "text") return new Map([[SINGLE, content]]);
  const entries = isRecord(content) ? Object.entries(content) : [];
  return new Map(entries.filter(([name]) => kind === "values" || parts.includes(name)));
}

function pathOf({ field, kind }: SecretField, name: string): SecretPath {
  return kind === "text" ? [field] : [field, name];
}

function fieldOf(value: object, field: string): unknown {
  return (value as Fields)[field];
}

type Fields = Record<string, unknown>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/* Answers: `has_body` for a text and a part, `header_names` for a record. */

function factOf(field: string, kind: "text" | "values"): string {
  return kind === "text" ? `has_${field}` : `${field.replace(/s$/, "")}_names`;
}

/** Returns the schemas of the fields that take the place of secret texts and values in answers. */
export function shownFacts(schema: TObject): TProperties {
  const facts = secretFields(schema).flatMap(({ field, kind }) => {
    if (kind === "parts") return [];
    const fact =
      kind === "text"
        ? hasSecret(field)
        : Type.Array(Type.String(), {
            description: `Names in ${field}. Their values are never returned.`,
          });
    return [[factOf(field, kind), fact]];
  });
  return Object.fromEntries(facts);
}

function hasSecret(name: string) {
  const noun = name.replaceAll("_", " ");
  return Type.Boolean({ description: `True if there is a ${noun}. It is never returned.` });
}

/** Returns the schema of an object in answers, with facts about its secret texts and values instead of them. */
export function shownSchema(schema: TObject): TObject {
  const open = Object.entries<TSchema>(schema.properties).filter(([, each]) => !isSecret(each));
  return Type.Object({ ...Object.fromEntries(open), ...shownFacts(schema) });
}

/** Returns the schema of an object with secret parts in answers, in which a missing part is null. */
export function shownParts(schema: TObject): TObject {
  const open = Object.entries<TSchema>(schema.properties).filter(([, part]) => !isSecret(part));
  const shown = open.map(([name, part]) => [name, OptionalKind in part ? Nullable(part) : part]);
  const facts = secretParts(schema).map((name) => [`has_${name}`, hasSecret(name)]);
  const { description = "" } = schema;
  return Type.Object(Object.fromEntries([...shown, ...facts]), { description });
}

/** Returns an object as answers show it. Fields follow that are facts about secret texts and values. */
export function withoutSecrets(schema: TObject, value: object): Fields {
  const shown = new Map(Object.entries(value));
  for (const { field, kind, parts, openParts } of secretFields(schema)) {
    const content = fieldOf(value, field);
    if (kind === "parts") {
      if (isRecord(content)) shown.set(field, withoutParts(content, parts, openParts));
      continue;
    }
    shown.delete(field);
    shown.set(
      factOf(field, kind),
      kind === "text" ? content != null : Object.keys(givenValues(content)),
    );
  }
  return Object.fromEntries(shown);
}

function withoutParts(content: Fields, parts: readonly string[], openParts: readonly string[]) {
  const shown: Fields = {};
  for (const name of openParts) shown[name] = content[name] ?? null;
  for (const name of parts) shown[`has_${name}`] = content[name] != null && content[name] !== "";
  return shown;
}

/** Returns an object as answers show it without the facts about its secrets. */
export function withoutFacts({ properties }: TObject, shown: object): Fields {
  const open = Object.entries(shown).flatMap(([field, content]: [string, unknown]) => {
    const schema = properties[field];
    if (!schema) return [];
    if (secretParts(schema).length === 0 || !isRecord(content)) return [[field, content]];
    const parts = Object.entries(content).filter(([name]) => name in schema["properties"]);
    return [[field, Object.fromEntries(parts)]];
  });
  return Object.fromEntries(open);
}

/** Returns the secrets that are set, of an object as answers show it. */
export function secretsShown(
  schema: TObject,
  shown: object,
): { kind: SecretField["kind"]; path: SecretPath }[] {
  return secretFields(schema).flatMap((secret) =>
    namesShown(secret, shown).map((name) => ({ kind: secret.kind, path: pathOf(secret, name) })),
  );
}

function namesShown({ field, kind, parts }: SecretField, shown: object): readonly string[] {
  if (kind === "text") return fieldOf(shown, factOf(field, kind)) === true ? [SINGLE] : [];
  if (kind === "values") return (fieldOf(shown, factOf(field, kind)) ?? []) as string[];
  const content = fieldOf(shown, field);
  return parts.filter((name) => isRecord(content) && content[`has_${name}`] === true);
}

/** Returns the values of a record that are not null; none for a missing record. */
export function givenValues(record: unknown): Record<string, string> {
  // Assignment would lose a name such as __proto__.
  const entries = Object.entries((record ?? {}) as Record<string, string | null>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] != null));
}

/* Changes: a secret that a change leaves out stays, and null removes it. */

/** Returns the schema of a change: every field is optional, and null clears one that is optional in a new object. */
export function changeSchema({ properties }: TObject, options: ObjectOptions = {}): TObject {
  const fields = Object.entries<TSchema>(properties).map(([name, schema]) => {
    const field = withNullableParts(schema);
    return [name, Type.Optional(OptionalKind in schema ? Nullable(field) : field)];
  });
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false, ...options });
}

/** Returns the schema of a field in which secret parts may be null. */
function withNullableParts(schema: TSchema): TSchema {
  const nullable = secretParts(schema).map((name) => [name, Nullable(schema["properties"][name])]);
  return nullable.length === 0
    ? schema
    : { ...schema, properties: { ...schema["properties"], ...Object.fromEntries(nullable) } };
}

/**
 * Servers, recipients and requests that get a secret, and all else that decides its use; undefined for an invalid
 * server.
 */
export type Uses = readonly (string | undefined)[];

/**
 * Returns true if a use is not one of those before. Stored secrets must then be given again. Otherwise anyone who may
 * change an object could have them sent to another server, or use the rights that they give.
 */
export function addsUse(before: Uses, after: Uses): boolean {
  return after.some((use) => !before.includes(use));
}

/** Returns the paths of stored secrets that a change neither gives again nor removes. Values of a record are one. */
export function keptSecrets(schema: TObject, before: object, change: object): SecretPath[] {
  return secretFields(schema).flatMap((secret): SecretPath[] => {
    const { field, kind } = secret;
    const given = fieldOf(change, field);
    if (given === null) return [];
    const settled = new Set(
      [...textsIn(secret, given)].flatMap(([name, text]) =>
        text === undefined ? [] : [inSpelling(kind, name)],
      ),
    );
    const kept = [...textsIn(secret, fieldOf(before, field))].filter(
      ([name, text]) => text != null && !settled.has(inSpelling(kind, name)),
    );
    const paths = kept.map(([name]) => pathOf(secret, name));
    return kind === "values" && paths.length > 0 ? [[field]] : paths;
  });
}

/** Returns a name for comparison: those of values, such as headers, are the same in upper and lower case. */
function inSpelling(kind: SecretField["kind"], name: string): string {
  return kind === "values" ? name.toLowerCase() : name;
}

/**
 * Returns an object after a change. Null removes a field. An object in a change replaces the stored one, but keeps the
 * secret parts that it leaves out. Secrets of fields for which `isExposed` returns true are dropped unless they are given
 * again.
 */
export function mergeSecrets<Value extends object>(
  schema: TObject,
  before: Value,
  change: Partial<Value>,
  isExposed: (field: string) => boolean,
): Value {
  const merged = new Map<string, unknown>(Object.entries({ ...before, ...change }));
  for (const { field, kind, parts } of secretFields(schema)) {
    const stored = fieldOf(before, field);
    const given = fieldOf(change, field);
    const kept = stored == null || isExposed(field) ? undefined : stored;
    if (kind === "parts") {
      const content = merged.get(field);
      if (isRecord(content)) merged.set(field, mergeParts(parts, kept, given, content));
    } else if (given === undefined) merged.set(field, kept);
    else if (kind === "values" && given !== null) merged.set(field, mergeValues(kept, given));
  }
  return Object.fromEntries([...merged].filter(([, value]) => value != null)) as Value;
}

/** Merges values by name, case-insensitively; null removes one. */
function mergeValues(before: unknown, change: object): Record<string, string> {
  const changed = new Set(Object.keys(change).map((name) => name.toLowerCase()));
  const kept = Object.entries(givenValues(before)).filter(
    ([name]) => !changed.has(name.toLowerCase()),
  );
  return Object.fromEntries([...kept, ...Object.entries(givenValues(change))]);
}

/** Returns the parts in `content` with the secret ones that are given, or else kept. */
function mergeParts(names: readonly string[], kept: unknown, given: unknown, content: Fields) {
  const open = Object.entries(content).filter(([name]) => !names.includes(name));
  const secrets = names.flatMap((name) => {
    const typed = isRecord(given) ? given[name] : undefined;
    const text = typed === undefined && isRecord(kept) ? kept[name] : typed;
    return text == null ? [] : [[name, text]];
  });
  return Object.fromEntries([...open, ...secrets]);
}

/*
 * Configuration files: null keeps a stored secret, and so does a text that is left out, or a record. An empty text
 * removes a secret, and a record removes those that it does not name. To keep a secret that is not stored is an error.
 * The plan must not show secrets.
 */

/** Describes any secret. */
export const SECRET = "a secret";
/** Describes a secret that replaces another. */
export const ANOTHER_SECRET = "another secret";
/** Error of a secret that should stay as it is, but is not stored. */
export const MISSING_SECRET =
  "is a secret that is not known here yet: give it, such as ${NAME} of a variable";

/** Returns the schema of an object in a file: secrets may be null or left out, and optional texts empty. */
export function declaredSchema({ properties }: TObject): TObject {
  const fields = Object.entries<TSchema>(properties).map(([field, schema]) => {
    if (!isSecret(schema) || schema[Kind] === "Record") return [field, withNullableParts(schema)];
    return [field, Type.Optional(Nullable(OptionalKind in schema ? orEmpty(schema) : schema))];
  });
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

const Whole = Symbol("whole");

defineKind("AllclearTextOrEmpty", ({ [Whole]: schema }: { [Whole]: TSchema }, value) =>
  value === "" ? undefined : describeViolation(schema, value),
);

function orEmpty(schema: TSchema): TSchema {
  return { ...schema, [Kind]: "AllclearTextOrEmpty", [Whole]: schema, minLength: 0 };
}

/** Returns an object with each secret text replaced by the result of `change`, which also receives its pointer. */
export function mapSecrets<Value extends object>(
  schema: TObject,
  value: Value,
  change: (text: string, at: string) => string,
): Value {
  const mapped = mapEach(schema, value, (text, path) =>
    typeof text === "string" ? change(text, pointer(...path)) : text,
  );
  return mapped as Value;
}

function mapEach(
  schema: TObject,
  value: object,
  change: (text: unknown, path: SecretPath) => unknown,
): Fields {
  const secrets = new Map(secretFields(schema).map((secret) => [secret.field, secret]));
  const mapped = Object.entries(value).map(([field, content]: [string, unknown]) => {
    const secret = secrets.get(field);
    if (!secret) return [field, content];
    if (secret.kind === "text") return [field, change(content, [field])];
    if (!isRecord(content)) return [field, content];
    const texts = textsIn(secret, content);
    const parts = Object.entries(content).map(([name, part]) => [
      name,
      texts.has(name) ? change(part, [field, name]) : part,
    ]);
    return [field, Object.fromEntries(parts)];
  });
  return Object.fromEntries(mapped);
}

/** Returns the fields of an object with secrets that are set, with null for each secret. Objects are returned whole. */
export function concealedSecrets(schema: TObject, value: object): Fields {
  const set = secretFields(schema).flatMap(({ field, kind }) => {
    const content = fieldOf(value, field);
    if (kind !== "values") return content == null ? [] : [[field, content]];
    const values = givenValues(content);
    return Object.keys(values).length === 0 ? [] : [[field, values]];
  });
  return mapEach(schema, Object.fromEntries(set), (text) => (text == null ? text : null));
}

/** Fields with secrets of a new object and of an existing one, and both states for display. */
export interface SecretPlan {
  /** Fields of a new object. */
  creation: Fields;
  /** Changed fields of an existing object. */
  change: Fields;
  /** Descriptions of the secrets by path, such as `headers.Authorization`. */
  current: Fields;
  desired: Fields;
  /** Errors for secrets to keep that are not stored. */
  missing: FieldError[];
}

/** Returns the plan for the secrets of an object in a file. `stored` is empty for a new object. */
export function planSecrets(schema: TObject, declared: object, stored: object): SecretPlan {
  const plan: SecretPlan = { creation: {}, change: {}, current: {}, desired: {}, missing: [] };
  for (const secret of secretFields(schema)) {
    const { field, isRequired } = secret;
    const before = textsIn(secret, fieldOf(stored, field));
    const creation = new Map<string, unknown>();
    const change = new Map<string, unknown>();
    for (const [name, text] of desiredTexts(secret, fieldOf(declared, field), before)) {
      const path = pathOf(secret, name);
      const current = before.get(name) ?? undefined;
      const described = describeSecretChange(current, text);
      plan.current[path.join(".")] = described.current;
      plan.desired[path.join(".")] = described.desired;
      if (text == null) {
        const isMissing = current === undefined && (text === null || isRequired);
        if (isMissing) plan.missing.push({ pointer: pointer(...path), detail: MISSING_SECRET });
        continue;
      }
      change.set(name, text === "" ? null : text);
      if (text !== "") creation.set(name, text);
    }
    addContent(plan.creation, secret, fieldOf(declared, field), creation);
    addContent(plan.change, secret, fieldOf(declared, field), change);
  }
  return plan;
}

/** Describes a stored secret, which may be undefined, and the secret of a file. */
function describeSecretChange(
  stored: unknown,
  declared: unknown,
): { current: string | null; desired: string | null } {
  const current = stored === undefined ? null : SECRET;
  if (declared === undefined || declared === null || declared === stored)
    return { current, desired: current };
  if (declared === "") return { current, desired: null };
  return { current, desired: current === null ? SECRET : ANOTHER_SECRET };
}

/** Returns the desired secrets of a field by name: null keeps one, and an empty text removes it. */
function desiredTexts(
  secret: SecretField,
  declared: unknown,
  before: ReadonlyMap<string, unknown>,
): Map<string, unknown> {
  const { kind, parts } = secret;
  const texts = textsIn(secret, declared);
  if (kind === "text") return texts;
  // An object that the file leaves out is removed as a whole.
  if (kind === "parts")
    return new Map(isRecord(declared) ? parts.map((name) => [name, texts.get(name)]) : []);
  const others = [...before].filter(([, text]) => text != null);
  return new Map([
    ...others.map(([name]) => [name, isRecord(declared) ? "" : null] as const),
    ...texts,
  ]);
}

/** Adds the content of a field with these secrets, if there is any. */
function addContent(
  fields: Fields,
  { field, kind, parts }: SecretField,
  declared: unknown,
  secrets: ReadonlyMap<string, unknown>,
): void {
  if (kind === "parts") {
    if (!isRecord(declared)) return;
    const content = Object.entries(declared).flatMap(([name, part]) => {
      if (!parts.includes(name)) return [[name, part]];
      return secrets.has(name) ? [[name, secrets.get(name)]] : [];
    });
    fields[field] = Object.fromEntries(content);
  } else if (secrets.size > 0) {
    fields[field] = kind === "text" ? secrets.get(SINGLE) : Object.fromEntries(secrets);
  }
}
