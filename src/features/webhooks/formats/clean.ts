// Control characters other than tab and line feed, and the marks that reorder the text around them.
const UNSAFE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const LINE_ENDS = /\r\n?|[\u2028\u2029]/g;
const CUT = "…";

/** A text without control characters, overrides of its direction and halves of surrogate pairs. */
export function clean(text: string): string {
  return text.replace(LINE_ENDS, "\n").replace(UNSAFE, "").toWellFormed();
}

/** The same on one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

/**
 * The longest beginning that fits, with an ellipsis where something is missing; never through the
 * middle of a character. `fits` must hold of whatever is shorter than what it holds of.
 */
export function clip(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  const points = Array.from(text);
  const beginning = (length: number) => points.slice(0, length).join("").trimEnd() + CUT;
  return beginning(mostThat(points.length - 1, (length) => fits(beginning(length))));
}

/** The same for a limit in characters, of which nobody says how they count: so in UTF-16 units, the most. */
export function clipTo(text: string, maxLength: number): string {
  return clip(text, ({ length }) => length <= maxLength);
}

/** The largest number from 0 to `most` of which something holds, if it holds of all below; else 0. */
export function mostThat(most: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = most + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);
// Allowed in a URL, but the end of one in some markup.
const ENDS_MARKUP = /[\s<>"'`|\\^{}()]/g;

/**
 * A web address in its canonical form, its host in punycode, without a character that means something
 * in a service's markup. Undefined for what is none, or reads as one site and leads to another
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

/** The address behind `mailto:`; undefined for another scheme. */
export function mailAddress(text: string): string | undefined {
  return /^mailto:([^?]+)/i.exec(text)?.[1];
}
