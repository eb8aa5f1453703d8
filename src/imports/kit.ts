/*
 * What the importers of all products share: notes about differences, cuts of foreign texts, limits of files that are
 * read, and parts of URLs. Everything here takes texts of other people.
 */
import type { ImportChange } from "../base/import-report";
import { TAG_MAX, TAGS_MAX, withTag } from "../base/tags";
import { oneLine, parseJson, withoutUnsafeCharacters } from "../base/text";
import { DESCRIPTION_MAX, NAME_MAX } from "../base/texts";
import { OperatorError } from "../db/errors";

/** Bounds of a number here. Without a unit it is a whole number. */
interface Bounds {
  min: number;
  max: number;
  unit?: string;
}

/** Collects what is different here while an object is read. Values are shown, so they must not be secrets. */
export class Notes {
  readonly changes: ImportChange[] = [];
  readonly #reasons: string[] = [];

  change(field: string, from: unknown, to: unknown, reason: string): void {
    const shown = (value: unknown) => (typeof value === "string" ? oneLine(value) : value);
    this.changes.push({ field, from: shown(from), to: shown(to), reason });
  }

  /** Notes two texts if they differ. */
  text(field: string, from: string, to: string, reason: string): void {
    // The rest of a huge text is not read.
    if (from !== to) this.change(field, from.slice(0, 2_000), to, reason);
  }

  /** Notes a secret, or a long text, that is not moved. */
  drop(field: string, reason: string): void {
    this.change(field, "set", "none", reason);
  }

  /** Notes a reason, in one sentence or more, for which the object is switched off until something is done. */
  disable(reason: string): void {
    this.#reasons.push(reason);
  }

  /** Returns a number within bounds, and notes the difference. */
  limited(field: string, value: number, { min, max, unit }: Bounds): number {
    const limited = Math.min(Math.max(unit === undefined ? Math.round(value) : value, min), max);
    if (limited !== value) {
      const range = `${min.toLocaleString("en")} to ${max.toLocaleString("en")}`;
      const words = unit === undefined ? `a whole number from ${range}` : `${range} ${unit}`;
      this.change(field, value, limited, `It can be ${words} here.`);
    }
    return limited;
  }

  get disabled(): string | undefined {
    return this.#reasons.length > 0 ? this.#reasons.join(" ") : undefined;
  }
}

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

/** Returns words as tags of a monitor, within their limits. */
export function cutTags(words: readonly string[], fallback: string): string[] {
  let tags: string[] = [];
  for (const word of words) {
    if (tags.length < TAGS_MAX) tags = withTag(tags, cutName(word, fallback, TAG_MAX).trim());
  }
  return tags;
}

export const TAGS_REASON = `Monitors have at most ${TAGS_MAX} different tags of ${TAG_MAX} characters.`;
export const NOTES_REASON = `Notes have at most ${DESCRIPTION_MAX} characters.`;

/** Returns the first of the names that this version does not know, each cut, and the number of the others. */
export function listUnknown(
  names: readonly string[],
  { max = 20, lengthMax = 50, noun = "fields" } = {},
): string[] {
  const listed = names.slice(0, max).map((name) => cutName(name, "a field", lengthMax));
  return names.length > max ? [...listed, `${names.length - max} more ${noun}`] : listed;
}

/** Returns true for an object or a list of JSON. */
export function isObjectOrList(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Decodes a percent-encoded text; returns one with other percent signs as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a URL without user name and password, and both decoded if it has one of them. */
export function withoutCredentials(text: string): {
  url: string;
  credentials?: { user: string; password: string };
} {
  const url = URL.parse(text);
  if (!url || (url.username === "" && url.password === "")) return { url: text };
  const credentials = { user: decoded(url.username), password: decoded(url.password) };
  url.username = "";
  url.password = "";
  return { url: url.href, credentials };
}

/** Returns the value of `Authorization` for a user name and a password. */
export function basicAuthorization({ user, password }: { user: string; password: string }): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** Reads a text in UTF-8 from a file or a pipe, up to a number of MiB. Throws an OperatorError. */
export async function readText(path: string, mebibytesMax = 64): Promise<string> {
  return new TextDecoder().decode(await readBytes(path, mebibytesMax));
}

/** Reads a file or a pipe, up to a number of MiB. Throws an OperatorError. */
export async function readBytes(path: string, mebibytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of Bun.file(path).stream()) {
      length += piece.byteLength;
      if (length > mebibytesMax * 1024 * 1024) {
        throw new OperatorError(`${path} is larger than ${mebibytesMax} MiB.`);
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
  return Buffer.concat(pieces);
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
