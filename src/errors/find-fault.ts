import { Kind, type TSchema } from "@sinclair/typebox";
import { Errors, type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Check } from "@sinclair/typebox/value";
import { isOwnKind, describeViolation } from "../kernel/schema";

/** Returns the error of a text, number, boolean, null or choice; undefined for a valid value. */
export function findFault(schema: TSchema, value: unknown): string | undefined {
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
