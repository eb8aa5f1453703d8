import type { Static, TSchema } from "@sinclair/typebox";
import { examine } from "./examine";
import type { FieldError } from "./problem";

/** Returns the fields of a value that break its schema, one entry a field. */
export function schemaErrors(schema: TSchema, value: unknown): FieldError[] {
  return [...examine(schema, value, Number.POSITIVE_INFINITY).errors.all];
}

/** Returns the value, typed by its schema. Throws `validation_failed` with every broken field. */
export function validate<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  examine(schema, value).errors.throwIfAny();
  return value as Static<Schema>;
}
