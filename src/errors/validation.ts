import { Kind, type Static, type TSchema } from "@sinclair/typebox";
import { Errors, type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { judge, shapeOf } from "../kernel/schema";
import { type FieldError, invalidFields, pointer } from "./problem";

/** Every field of a value that breaks its schema, one entry a field, unknown fields named. */
export function fieldErrors(schema: TSchema, value: unknown): FieldError[] {
  const byPointer = new Map<string, FieldError>();
  for (const error of Errors(schema, value)) {
    for (const field of fieldsOf(error)) {
      // The first complaint about a field is the one to act on: "is required" before "must be text".
      if (!byPointer.has(field.pointer)) byPointer.set(field.pointer, field);
    }
  }
  return [...byPointer.values()];
}

/** What one error says; of an object that has several shapes, what is wrong by the one that was meant. */
function fieldsOf(error: ValueError): FieldError[] {
  const { path, schema, value } = error;
  const shape = shapeOf(schema, value);
  if (!shape) return [{ pointer: `#${path}`, detail: describe(error) }];
  return fieldErrors(shape, value).map(({ pointer: inner, detail }) => ({
    pointer: `#${path}${inner.slice(1)}`,
    detail,
  }));
}

/** The value, typed by its schema. Throws `validation_failed` with every broken field. */
export function validate<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  const fields = fieldErrors(schema, value);
  if (fields.length > 0) throw invalidFields(fields);
  return value as Static<Schema>;
}

/** Collects what the schema cannot see, so that a caller hears of every broken field at once. */
export class FieldErrors {
  readonly #fields: FieldError[] = [];

  get all(): readonly FieldError[] {
    return this.#fields;
  }

  add(steps: (string | number)[], detail: string): void {
    this.#fields.push({ pointer: pointer(...steps), detail });
  }

  /** Adds what is wrong with a part that was judged by itself, whose pointers begin where it is. */
  addAll(steps: (string | number)[], fields: readonly FieldError[]): void {
    for (const field of fields) {
      this.#fields.push({ ...field, pointer: pointer(...steps) + field.pointer.slice(1) });
    }
  }

  /** Throws `validation_failed` if anything was added. */
  throwIfAny(): void {
    if (this.#fields.length > 0) throw invalidFields(this.#fields);
  }
}

function describe(error: ValueError): string {
  const { schema, value, type } = error;
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "is required";
    case ValueErrorType.ObjectAdditionalProperties:
      return "is not a known field";
    case ValueErrorType.Object:
      return "must be an object";
    case ValueErrorType.ObjectMinProperties:
      return "names nothing to change";
    case ValueErrorType.ObjectMaxProperties:
      return `has more than ${schema["maxProperties"]} entries`;
    case ValueErrorType.Array:
      return "must be a list";
    case ValueErrorType.ArrayMinItems:
      return schema["minItems"] === 1 ? "needs at least one" : `needs ${schema["minItems"]}`;
    case ValueErrorType.ArrayMaxItems:
      return `has more than ${schema["maxItems"]} entries`;
    case ValueErrorType.ArrayUniqueItems:
      return "names something twice";
    case ValueErrorType.String:
      return "must be text";
    case ValueErrorType.Boolean:
      return "must be true or false";
    case ValueErrorType.Null:
      return "must be null";
    case ValueErrorType.Union:
      return describeUnion(error);
    case ValueErrorType.Integer:
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return describeInteger(schema);
    case ValueErrorType.Kind:
      return judge(schema, value) ?? "is not valid";
    default:
      return error.message.charAt(0).toLowerCase() + error.message.slice(1);
  }
}

/** A nullable value is complained of as what it is when it is not null. */
function describeUnion(error: ValueError): string {
  const branch = (error.schema["anyOf"] as TSchema[] | undefined)?.find(
    (candidate) => candidate[Kind] !== "Null",
  );
  const first = branch ? Errors(branch, error.value).First() : undefined;
  return first ? describe(first) : "is not valid";
}

function describeInteger(schema: TSchema): string {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum === undefined && maximum === undefined) return "must be a whole number";
  if (maximum === undefined) return `must be a whole number of at least ${minimum}`;
  const [from, to] = [minimum ?? 0, maximum].map((bound) => bound.toLocaleString("en"));
  return `must be a whole number from ${from} to ${to}`;
}
