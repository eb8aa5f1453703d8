import type { TSchema } from "@sinclair/typebox";

/** Longest name that is compared with others. */
const COMPARED_MAX = 40;
/** Shortest part by which names are alike. */
const ALIKE_MIN = 3;

/**
 * Returns the error of a field that a schema with these properties does not have. It names a field that is
 * written alike, such as `interval_seconds` for `interval`, or the object that has the field.
 */
export function describeUnknownField(
  name: string,
  properties: Readonly<Record<string, TSchema>>,
): string {
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
