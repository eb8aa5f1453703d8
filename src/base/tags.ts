import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { defineKind, describeViolation } from "./schema";
import { LineText, NAME_MAX } from "./texts";

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
function TextSet(item: TSchema, options: { maxItems: number; description?: string }) {
  return Type.Unsafe<string[]>({
    [Kind]: "AllclearTextSet",
    [ItemSchema]: item,
    type: "array",
    items: item,
    uniqueItems: true,
    ...options,
  });
}

/** Maximum number of tags of one object. */
export const TAGS_MAX = 20;
/** Maximum length of a tag, in code points. */
export const TAG_MAX = 100;

const options = { minLength: 1, maxLength: TAG_MAX, examples: ["production"] };

/** Tag, without white space at its ends. */
export const TagText = LineText({ ...options, isTrimmed: true });

/** Tags of an object, in the order in which they are shown. */
export const TagsInput = TextSet(TagText, {
  maxItems: TAGS_MAX,
  description:
    "Labels that visitors never see: the dashboard, this API and webhooks of monitors show them. Tags that differ only in case are the same.",
});

/** Tag in a filter. */
export const TagFilter = LineText({
  ...options,
  description: "A tag. The case of ASCII letters is ignored.",
});

/** Group of a monitor, by which the dashboard lists it. */
export const MonitorGroup = LineText({
  minLength: 1,
  maxLength: NAME_MAX,
  isTrimmed: true,
  description: "Group under which the monitor is listed, which visitors never see; null for none.",
  examples: ["Data centre 2"],
});

/** Group of monitors in a filter. */
export const MonitorGroupFilter = LineText({
  minLength: 1,
  maxLength: NAME_MAX,
  description: "A group of monitors, exactly as it is written.",
  examples: ["Data centre 2"],
});

/** Returns the tags with `tag` added, unless they contain it in any case. */
export function withTag(tags: readonly string[], tag: string): string[] {
  return hasTag(tags, tag) ? [...tags] : [...tags, tag];
}

/** Returns the tags without `tag`, in any case. */
export function withoutTag(tags: readonly string[], tag: string): string[] {
  return tags.filter((each) => !hasTag([each], tag));
}

function hasTag(tags: readonly string[], tag: string): boolean {
  return tags.some((each) => each.toLowerCase() === tag.toLowerCase());
}
