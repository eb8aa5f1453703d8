import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { defineKind, describeViolation } from "./schema";

// A symbol, so that it is not published with the schema.
const ItemSchema = Symbol("item");

interface TextSetSchema {
  [ItemSchema]: TSchema;
  maxItems: number;
}

defineKind("AllclearTextSet", (schema: TextSetSchema, value) => {
  if (!Array.isArray(value)) return "must be a list of texts";
  if (value.length > schema.maxItems) {
    return `has ${value.length} items; ${schema.maxItems} is the most`;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const problem = describeViolation(schema[ItemSchema], item);
    if (problem !== undefined) return `item ${index + 1} ${problem}`;
    const folded = String(item).toLowerCase();
    if (seen.has(folded)) return `item ${index + 1} is a repetition; case is ignored`;
    seen.add(folded);
  }
  return undefined;
});

/** Schema of a list of different texts, where those that differ only in case are the same. */
export function TextSet(item: TSchema, options: { maxItems: number; description?: string }) {
  return Type.Unsafe<string[]>({
    [Kind]: "AllclearTextSet",
    [ItemSchema]: item,
    type: "array",
    items: item,
    uniqueItems: true,
    ...options,
  });
}
