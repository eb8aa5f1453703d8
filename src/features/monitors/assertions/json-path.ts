import { codePointLength } from "../../../base/text";

/** Names and indexes that lead to one value in a JSON document. */
type JsonPath = readonly (string | number)[];

/** Result of a path without a value, different from JSON's null. */
export const NOTHING = Symbol("nothing");

const SEGMENT =
  /\.([A-Za-z_\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}]*)|\[(0|-?[1-9]\d{0,14})\]|\['((?:[^'\\]|\\['"\\/])*)'\]|\["((?:[^"\\]|\\['"\\/])*)"\]/uy;

/**
 * Parses a JSONPath to one value (RFC 9535, a "singular query"): `$`, `.name`, `['name']`,
 * `["name"]`, `[0]`, `[-1]`. Undefined for others, such as filters and searches, whose time is
 * unbounded.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  if (!text.startsWith("$")) return undefined;
  const steps: (string | number)[] = [];
  const segment = new RegExp(SEGMENT);
  segment.lastIndex = 1;
  while (segment.lastIndex < text.length) {
    const match = segment.exec(text);
    if (!match) return undefined;
    const [, name, index, single, double] = match;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? (single ?? double ?? "").replace(/\\(.)/gu, "$1"));
  }
  return steps;
}

/** Returns the value of a path. */
export function valueAt(document: unknown, path: JsonPath): unknown {
  let value = document;
  for (const step of path) {
    if (typeof step === "number") {
      if (!Array.isArray(value)) return NOTHING;
      const index = step < 0 ? value.length + step : step;
      if (index < 0 || index >= value.length) return NOTHING;
      value = value[index];
    } else {
      // An inherited name, such as `constructor`, is not in the document.
      if (typeof value !== "object" || value === null || Array.isArray(value)) return NOTHING;
      if (!Object.hasOwn(value, step)) return NOTHING;
      value = (value as Record<string, unknown>)[step];
    }
  }
  return value;
}

/**
 * Returns the number of entries of a list, of fields of an object or of characters of a text; NaN for other
 * values.
 */
export function lengthOf(value: unknown): number {
  if (typeof value === "string") return codePointLength(value);
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : Number.NaN;
}
