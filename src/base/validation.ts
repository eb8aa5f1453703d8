/* Validates a value against its schema without TypeBox's quadratic checks. */
import { Kind, type Static, type TSchema } from "@sinclair/typebox";
import { Errors, type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Check } from "@sinclair/typebox/value";
import { type FieldError, invalidFields, pointer } from "./errors";
import { describeViolation, isOwnKind, shapeOf } from "./schema";
import { isObject } from "./text";

/**
 * Path of the part that is examined. One list is changed in place during an examination, to save copies: whoever keeps
 * a path copies it.
 */
type Path = (string | number)[];
type Fields = Record<string, unknown>;

/** Stands for a part of a value that violates its schema. */
const INVALID = Symbol("invalid");

/** Result of comparing a value with its schema. */
interface Examined {
  /** Invalid fields, each once. */
  errors: FieldErrors;
  /**
   * Copy of the valid fields. An invalid text in a list becomes empty, which keeps indexes unchanged.
   */
  valid: unknown;
}

/**
 * Compares a value with its schema in linear time, since TypeBox compares all pairs of a
 * `uniqueItems` list, even beyond `maxItems`. `limit` is the number of errors to list.
 */
export function examine(schema: TSchema, value: unknown, limit?: number): Examined {
  const errors = new FieldErrors(limit);
  const valid = examinePart(schema, value, [], errors);
  return { errors, valid: valid === INVALID ? undefined : valid };
}

/** Returns the errors of a value, one per field, without a limit. */
export function schemaErrors(schema: TSchema, value: unknown): FieldError[] {
  return [...examine(schema, value, Number.POSITIVE_INFINITY).errors.all];
}

declare const examined: unique symbol;

/**
 * Marks the type of an examined value; nothing has it at run time. It is a method of a class, which the type of a spread
 * object does not have, so a value that is composed of an examined one must be examined again. A private member would
 * get lost in Elysia's types of bodies.
 */
declare abstract class Mark {
  [examined](): void;
}

/**
 * A value that was compared with its schema: the result of `validate`, or a body of a route. Verbs take no other. The
 * compiler does not see a change of an examined object, nor whether another schema was laxer.
 */
export type Valid<Value> = Value & Mark;

/**
 * Returns the value, typed by its schema. Throws `validation_failed` with every invalid field. `addFurther` adds the errors
 * that the schema cannot express, for the valid fields.
 */
export function validate<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  addFurther?: (valid: Partial<Static<Schema>>, errors: FieldErrors) => void,
): Valid<Static<Schema>> {
  const { errors, valid } = examine(schema, value);
  addFurther?.((valid ?? {}) as Partial<Static<Schema>>, errors);
  errors.throwIfAny();
  return value as Valid<Static<Schema>>;
}

/**
 * Passes a body that Allclear itself composes, from constants and from stored values, which are within the limits of
 * the schema. Never use it for a body with values from outside.
 */
export function composed<Body>(body: Body): Valid<Body> {
  return body as Valid<Body>;
}

function examinePart(schema: TSchema, value: unknown, path: Path, errors: FieldErrors): unknown {
  const shape = shapeOf(schema, value);
  if (shape) return examinePart(shape, value, path, errors);
  switch (schema[Kind]) {
    case "Object":
      return examineObject(schema, value, path, errors);
    case "Record":
      return examineMap(schema, value, path, errors);
    case "Array":
      return examineList(schema, value, path, errors);
    case "Union":
      return examineUnion(schema, value, path, errors);
    default: {
      const fault = findFault(schema, value);
      return fault === undefined ? value : invalid(path, fault, errors);
    }
  }
}

/** Examines the value of a field, or an item of a list. */
function examineField(
  schema: TSchema,
  value: unknown,
  step: string | number,
  path: Path,
  errors: FieldErrors,
): unknown {
  path.push(step);
  const examined = examinePart(schema, value, path, errors);
  path.pop();
  return examined;
}

function examineObject(schema: TSchema, value: unknown, path: Path, errors: FieldErrors): unknown {
  if (!isObject(value)) return invalid(path, "must be an object", errors);
  const properties: Record<string, TSchema> = schema["properties"];
  const required: readonly string[] = schema["required"] ?? [];
  const names = Object.getOwnPropertyNames(value);
  if (addSizeErrors(schema, names.length, path, errors)) return INVALID;
  const valid: Fields = {};
  let unknown = names.length;
  for (const name of Object.keys(properties)) {
    const isThere = Object.hasOwn(value, name);
    if (isThere) unknown -= 1;
    if (isThere && (value[name] !== undefined || required.includes(name))) {
      const property = properties[name] as TSchema;
      keep(valid, name, examineField(property, value[name], name, path, errors));
    } else if (required.includes(name)) errors.add([...path, name], "is required");
  }
  if (schema["additionalProperties"] === false) {
    addUnknown(names, properties, unknown, path, errors);
    return valid;
  }
  return Object.keys(properties).length === 0 ? value : valid;
}

/** Adds an error for too few or too many fields; returns true if it did. */
function addSizeErrors(schema: TSchema, size: number, path: Path, errors: FieldErrors): boolean {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  if (size < minProperties) errors.add(path, "must contain at least one field");
  if (size > maxProperties) errors.add(path, `has more than ${maxProperties} entries`);
  return size < minProperties || size > maxProperties;
}

/**
 * Adds the unknown fields. Reads only as many names as are listed, since there may be tens of
 * thousands.
 */
function addUnknown(
  names: readonly string[],
  properties: Readonly<Record<string, TSchema>>,
  count: number,
  path: Path,
  errors: FieldErrors,
): void {
  let left = count;
  for (const name of names) {
    if (left === 0 || errors.isFull) break;
    if (Object.hasOwn(properties, name)) continue;
    errors.add([...path, name], describeUnknownField(name, properties));
    left -= 1;
  }
  errors.addUnlisted(left);
}

function examineMap(schema: TSchema, value: unknown, path: Path, errors: FieldErrors): unknown {
  if (!isObject(value)) return invalid(path, "must be an object", errors);
  const [[pattern, item] = []] = Object.entries<TSchema>(schema["patternProperties"]);
  if (pattern === undefined || item === undefined) throw new Error("a map without a value schema");
  const names = Object.getOwnPropertyNames(value);
  if (addSizeErrors(schema, names.length, path, errors)) return INVALID;
  const valid: Fields = {};
  const isName = new RegExp(pattern);
  for (const name of names) {
    if (isName.test(name)) {
      keep(valid, name, examineField(item, value[name], name, path, errors));
    } else errors.add([...path, name], "is not a known field");
  }
  return valid;
}

/**
 * Examines a list. Stops at the first error of the list as a whole; the items of an overlong list
 * are not read.
 */
function examineList(schema: TSchema, value: unknown, path: Path, errors: FieldErrors): unknown {
  if (!Array.isArray(value)) return invalid(path, "must be a list", errors);
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems } = schema;
  if (value.length < minItems) {
    return invalid(path, minItems === 1 ? "needs at least one" : `needs ${minItems}`, errors);
  }
  if (value.length > maxItems) return invalid(path, `has more than ${maxItems} entries`, errors);
  if (uniqueItems && new Set(value).size < value.length) {
    return invalid(path, "contains an entry twice", errors);
  }
  const valid: unknown[] = value.map((item, index) =>
    examineField(items, item, index, path, errors),
  );
  if (!valid.includes(INVALID)) return valid;
  return items.type === "string" ? valid.map((item) => (item === INVALID ? "" : item)) : INVALID;
}

/**
 * Examines a nullable value. A value that is not null is examined by the other schema of the union; a list
 * by that of lists.
 */
function examineUnion(schema: TSchema, value: unknown, path: Path, errors: FieldErrors): unknown {
  const branches: TSchema[] = schema["anyOf"];
  const others = branches.filter((branch) => branch[Kind] !== "Null");
  if (value === null && others.length < branches.length) return null;
  const [only, ...more] = others;
  if (only && more.length === 0) return examinePart(only, value, path, errors);
  const list = Array.isArray(value) && others.find((branch) => branch[Kind] === "Array");
  if (list) return examinePart(list, value, path, errors);
  const fault = findFault(schema, value);
  return fault === undefined ? value : invalid(path, fault, errors);
}

function invalid(path: Path, detail: string, errors: FieldErrors): typeof INVALID {
  errors.add(path, detail);
  return INVALID;
}

/** Adds a valid field. `__proto__` becomes an ordinary field; an assignment, which is faster, would set the prototype. */
function keep(valid: Fields, name: string, value: unknown): void {
  if (value === INVALID) return;
  if (name !== "__proto__") {
    valid[name] = value;
    return;
  }
  const ordinary = { enumerable: true, writable: true, configurable: true };
  Object.defineProperty(valid, name, { value, ...ordinary });
}

/** Returns the error of a text, number, boolean, null or choice; undefined for a valid value. */
function findFault(schema: TSchema, value: unknown): string | undefined {
  if (isOwnKind(schema)) return describeViolation(schema, value);
  if (Check(schema, value)) return undefined;
  if (schema[Kind] === "Union") {
    const [branch] = schema["anyOf"] as TSchema[];
    return (branch && findFault(branch, value)) ?? "is not valid";
  }
  const error = Errors(schema, value).First();
  return error ? describe(error) : "is not valid";
}

function describe({ schema, type, message }: ValueError): string {
  switch (type) {
    case ValueErrorType.String:
      return "must be text";
    case ValueErrorType.Boolean:
      return "must be true or false";
    case ValueErrorType.Null:
      return "must be null";
    case ValueErrorType.Integer:
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return describeInteger(schema);
    default:
      return message.charAt(0).toLowerCase() + message.slice(1);
  }
}

function describeInteger(schema: TSchema): string {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum === undefined && maximum === undefined) return "must be a whole number";
  if (maximum === undefined) return `must be a whole number of at least ${minimum}`;
  const [from, to] = [minimum ?? 0, maximum].map((bound) => bound.toLocaleString("en"));
  return `must be a whole number from ${from} to ${to}`;
}

/** Longest name that is compared with others. */
const COMPARED_MAX = 40;
/** Shortest part by which names are alike. */
const ALIKE_MIN = 3;

/**
 * Returns the error of a field that a schema with these properties does not have. It names a field that is
 * written alike, such as `interval_seconds` for `interval`, or the object that has the field.
 */
function describeUnknownField(name: string, properties: Readonly<Record<string, TSchema>>): string {
  const plain = "is not a known field";
  if (name.length > COMPARED_MAX) return plain;
  const owner = Object.keys(properties).find((field) =>
    Object.hasOwn(properties[field]?.["properties"] ?? {}, name),
  );
  if (owner !== undefined) return `${plain}: it belongs in ${owner}`;
  const letters = lettersOf(name);
  const alike = Object.keys(properties).find((field) => areAlike(lettersOf(field), letters));
  return alike === undefined ? plain : `${plain}: did you mean ${alike}?`;
}

/** Returns true if one text contains the other. */
function areAlike(one: string, other: string): boolean {
  const isLong = Math.min(one.length, other.length) >= ALIKE_MIN;
  return isLong && (one.includes(other) || other.includes(one));
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, "");
}

/** Maximum number of invalid fields that one response lists. */
const LISTED_MAX = 100;

/** Returns true if a top-level field of a body, or a part of it, is invalid. */
export type IsInvalidField = (field: string) => boolean;

/**
 * Collects invalid fields, so that one response reports all. Lists the first ones and counts the
 * rest.
 */
export class FieldErrors {
  readonly #listed: FieldError[] = [];
  readonly #limit: number;
  #unlisted = 0;

  constructor(limit = LISTED_MAX) {
    this.#limit = limit;
  }

  /** Listed errors. */
  get all(): readonly FieldError[] {
    return this.#listed;
  }

  /** Number of errors that are not listed. */
  get unlisted(): number {
    return this.#unlisted;
  }

  get isEmpty(): boolean {
    return this.#listed.length === 0;
  }

  /** Returns true if a top-level field, or a part of it, is invalid. */
  concerns(field: string): boolean {
    return this.#listed.some((error) => error.pointer.split("/", 2)[1] === field);
  }

  /** True if no more errors are listed. */
  get isFull(): boolean {
    return this.#listed.length >= this.#limit;
  }

  add(steps: readonly (string | number)[], detail: string): void {
    if (this.isFull) this.#unlisted += 1;
    else this.#listed.push({ pointer: pointer(...steps), detail });
  }

  /** Adds a number of errors that are only counted. */
  addUnlisted(count: number): void {
    this.#unlisted += count;
  }

  /**
   * Adds the errors of a part that was validated separately. Their pointers are relative to the
   * part, at `steps`.
   */
  addAll(steps: readonly (string | number)[], part: readonly FieldError[] | FieldErrors): void {
    const fields = part instanceof FieldErrors ? part.all : part;
    const listed = fields.slice(0, this.#limit - this.#listed.length);
    const at = pointer(...steps);
    for (const field of listed) {
      this.#listed.push({ ...field, pointer: at + field.pointer.slice(1) });
    }
    this.#unlisted += fields.length - listed.length;
    if (part instanceof FieldErrors) this.#unlisted += part.unlisted;
  }

  /** Adds the errors of fields that have none yet. Each field keeps its first error. */
  addMissing(further: FieldErrors): void {
    const listed = new Set(this.#listed.map((field) => field.pointer));
    this.addAll(
      [],
      further.all.filter((field) => !listed.has(field.pointer)),
    );
    this.#unlisted += further.unlisted;
  }

  /** Throws `validation_failed` if anything was added. */
  throwIfAny(): void {
    if (!this.isEmpty) throw invalidFields(this.#listed, this.#unlisted);
  }
}
