import type { ImportChange } from "../base/import-report";
import { oneLine, parseJson, withoutUnsafeCharacters } from "../base/text";
import { NAME_MAX } from "../base/texts";
import { OperatorError } from "../db/errors";

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

/** Maximum size of a file, in MiB. */
const MEBIBYTES_MAX = 64;

/** Reads a file or a pipe, up to 64 MiB. Throws an OperatorError. */
export async function readText(path: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of Bun.file(path).stream()) {
      length += piece.byteLength;
      if (length > MEBIBYTES_MAX * 1024 * 1024) {
        throw new OperatorError(`${path} is larger than ${MEBIBYTES_MAX} MiB.`);
      }
      pieces.push(piece);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError) throw error;
    if (code === "ENOENT") throw new OperatorError(`There is no file ${path}.`);
    if (code === "EISDIR") throw new OperatorError(`${path} is a directory; import needs a file.`);
    throw new OperatorError(`${path} cannot be read: ${message}`);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

/** Deepest nesting of JSON that is read, and maximum number of its values. Those of real sources are at most 6 deep. */
const DEPTH_MAX = 100;

const VALUES_MAX = 2_000_000;

/**
 * Returns the value of a JSON text; undefined for any other text. Throws an OperatorError that begins with `name` for a
 * text with too many levels or values, before anything is built.
 */
export function parseModestJson(text: string, name: string): unknown {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        at = endOfText(text, at);
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        values += 1;
        break;
      case 0x2c: // ,
        values += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
    }
    if (depth > DEPTH_MAX) {
      throw new OperatorError(`${name} is nested deeper than ${DEPTH_MAX} levels.`);
    }
    if (values > VALUES_MAX) {
      const most = VALUES_MAX.toLocaleString("en");
      throw new OperatorError(`${name} has more than ${most} values.`);
    }
  }
  return parseJson(text);
}

/** Returns the index of the quote that ends a text of JSON; the last index without one. */
function endOfText(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

/** Returns true for a character behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}
