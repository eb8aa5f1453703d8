import { withLineFeeds } from "../../../base/text";

// Control characters other than tab and line feed, and marks that reorder the text around them.
const UNSAFE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const CUT_MARK = "…";

/** Returns a text without control characters, direction overrides and unpaired surrogates. */
export function clean(text: string): string {
  return withLineFeeds(text).replace(UNSAFE, "").toWellFormed();
}

/** Returns a clean text on one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

/**
 * Returns the longest beginning that fits, with an ellipsis if it was cut, never within a
 * character. If `fits` accepts a text, it must accept shorter ones.
 */
function clip(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  const points = Array.from(text);
  const beginning = (length: number) => points.slice(0, length).join("").trimEnd() + CUT_MARK;
  return beginning(largestCount(points.length - 1, (length) => fits(beginning(length))));
}

/** Cuts a text at a number of UTF-16 units, the strictest reading of limits in "characters". */
export function clipTo(text: string, maxLength: number): string {
  return clip(text, ({ length }) => length <= maxLength);
}

/**
 * Returns the largest number from 0 to `max` for which `holds` is true, if it is true for all
 * smaller ones; else 0.
 */
export function largestCount(max: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = max + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);
// Characters that are allowed in a URL but end one in some markup.
const ENDS_MARKUP = /[\s<>"'`|\\^{}()]/g;

/**
 * Returns a web address in canonical form, with its host in punycode and markup characters escaped.
 * Undefined for other texts, and for addresses with user info, which can imitate another site
 * (`https://bank.example@elsewhere.example`).
 */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !SCHEMES.has(url.protocol) || url.username !== "" || url.password !== "") {
    return undefined;
  }
  return url.href.replace(ENDS_MARKUP, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** Returns the address of a `mailto:` link; undefined for other schemes. */
export function mailAddress(text: string): string | undefined {
  return /^mailto:([^?]+)/i.exec(text)?.[1];
}
