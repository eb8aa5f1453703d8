import type { ImportChange } from "../../domain/import-report";
import { NAME_MAX } from "../../domain/texts";
import { oneLine, withoutUnsafeCharacters } from "../../kernel/text";

/** Returns the first code points of a text, without NUL characters and halves of surrogate pairs. */
export function cutText(text: string, max: number): string {
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
