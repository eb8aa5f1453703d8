// Control characters (U+0085 among them), separators of lines, and characters that reorder text (bidirectional
// overrides and isolates). In a name they could imitate another name.
// oxlint-disable-next-line no-control-regex
const UNSAFE_IN_NAMES = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** Line breaks besides the line feed, as many readers of lines know them. */
const OTHER_LINE_BREAKS = /\r\n?|[\u0085\u2028\u2029]/g;

/** Returns the length in code points, as the API counts. */
export function codePointLength(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Returns a text in which every line ends with a line feed. */
export function withLineFeeds(text: string): string {
  return text.replace(OTHER_LINE_BREAKS, "\n");
}

/** Returns true if a text contains control characters, separators of lines or bidirectional overrides. */
export function hasUnsafeCharacters(text: string): boolean {
  return UNSAFE_IN_NAMES.test(text);
}

/** Returns a text without control characters, separators of lines and bidirectional overrides. */
export function withoutUnsafeCharacters(text: string): string {
  return text.replace(new RegExp(UNSAFE_IN_NAMES, "g"), "");
}

/** Returns a word with a capital first letter. */
export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Returns an identifier of the API with spaces instead of underscores: "partial outage". */
export function spaced(identifier: string): string {
  return identifier.replaceAll("_", " ");
}

/** Returns the value of a JSON text; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns true for an object of JSON that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the depth, the fields and the lists of JSON, by the brackets and colons outside strings: without recursion,
 * and in far less time than parsing takes. Ends below `depthMax`.
 */
export function measureJson(
  text: string,
  depthMax: number,
): { depth: number; fields: number; lists: number } {
  let [open, depth, fields, lists] = [0, 0, 0, 0];
  let isInString = false;
  for (let i = 0; i < text.length && depth <= depthMax; i++) {
    const char = text.charCodeAt(i);
    if (isInString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) isInString = false;
    } else if (char === 0x22) isInString = true;
    else if (char === 0x3a) fields += 1;
    else if (char === 0x5b || char === 0x7b) {
      open += 1;
      if (open > depth) depth = open;
      if (char === 0x5b) lists += 1;
    } else if (char === 0x5d || char === 0x7d) open -= 1;
  }
  return { depth, fields, lists };
}

/** Returns a count with its noun: "1 day", "2 days". */
export function plural(count: number, noun: string): string {
  // Formatting by locale takes a hundred times as long and changes only numbers from 1,000.
  const digits =
    count < 1_000 && Number.isInteger(count) ? String(count) : count.toLocaleString("en");
  return `${digits} ${noun}${count === 1 ? "" : "s"}`;
}

/** Limit of characters that are read: normalising combining marks takes quadratic time. */
const READ_OF_NAME_MAX = 1_000;

/** Returns the first `max` names with commas, and the number of the others: "a, b and 3 more". */
export function firstNames(names: readonly string[], max: number): string {
  const more = names.length - max;
  return names.slice(0, max).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Returns names as a list: "a", "a and b", "a, b and c". */
export function andList(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** Returns a ref for a name: lower case, hyphens for other characters, at most 63 characters. */
export function toRef(name: string): string {
  return name
    .slice(0, READ_OF_NAME_MAX)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "");
}

const ONE_LINE_MAX = 300;

/** Returns one line of at most 300 characters of a text that repeats a foreign one. */
export function oneLine(message: string): string {
  const characters = [...message.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")];
  if (characters.length <= ONE_LINE_MAX) return characters.join("");
  return `${characters.slice(0, ONE_LINE_MAX - 1).join("")}…`;
}
