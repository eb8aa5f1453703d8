import type { ImportChange } from "../../base/import-report";
import { DESCRIPTION_MAX, NAME_MAX } from "../../base/texts";
import { oneLine, withoutUnsafeCharacters } from "../../base/text";

/** Returns the first code points of a text, without NUL characters and halves of surrogate pairs. */
export function cutText(text: string, max: number): string {
  if (text.length <= max && text.isWellFormed() && !text.includes("\0")) return text;
  // Two units for each code point, and room for NUL characters: the rest of a huge text is not read.
  const start = text
    .slice(0, 4 * max)
    .toWellFormed()
    .replaceAll("\0", "");
  return [...start].slice(0, max).join("");
}

/** Returns a text as a name on one line within its limits; `fallback` if nothing is left. */
export function cutName(text: string, fallback: string, max = NAME_MAX): string {
  const start = text.slice(0, 4 * max).toWellFormed();
  const name = [...withoutUnsafeCharacters(start)].slice(0, max).join("");
  return name.trim() === "" ? fallback : name;
}

/** Returns the difference between two texts, if there is one, with at most 300 characters of each. */
export function textChange(
  field: string,
  from: string,
  to: string,
  reason: string,
): ImportChange[] {
  return from === to
    ? []
    : [{ field, from: oneLine(from.slice(0, 2_000)), to: oneLine(to), reason }];
}

/** A value within its limits, with the differences to what was found. */
interface Fitted<Value> {
  value: Value;
  changes: ImportChange[];
}

/** Returns a name within its limits; one that is made from the type of the object if it has none. */
export function fitName(name: string, type: string): Fitted<string> {
  const value = cutName(name, `Unnamed ${type}`);
  const reason =
    name.trim() === ""
      ? "It has no name."
      : `Names have at most ${NAME_MAX} characters, and no control characters.`;
  return { value, changes: textChange("name", name, value, reason) };
}

/** Returns a text on any number of lines within its limit. */
export function fitText(field: string, text: string, max: number): Fitted<string> {
  const value = cutText(text, max);
  const reason = `At most ${max.toLocaleString("en")} characters of it are kept.`;
  return { value, changes: textChange(field, text, value, reason) };
}

/** Returns a description within its limit. */
export function fitDescription(text: string | null | undefined): Fitted<string | null> {
  const { value, changes } = fitText("description", text ?? "", DESCRIPTION_MAX);
  return { value: value === "" ? null : value, changes };
}
