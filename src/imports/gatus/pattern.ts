/** Characters with a meaning in a regular expression. */
const SPECIAL = /[\\^$.|?*+()[\]{}/-]/g;

/** Returns a text as a regular expression in RE2's syntax. */
export function quoted(text: string): string {
  return text.replace(SPECIAL, (character) => (character === "/" ? character : `\\${character}`));
}

/** A pattern of Gatus as far as it is one of the simple kinds, or as a regular expression for the whole text. */
export type Pattern =
  { kind: "any" } | { kind: "contains"; text: string } | { kind: "matches"; source: string };

/**
 * Reads the pattern in `pat(…)`: `*`, `?`, `[…]` and `\` as in file names, for the whole text. Gatus removes all
 * slashes from pattern and text, so a slash may be anywhere. Undefined for one that is not valid, which never matches.
 */
export function readPattern(pattern: string): Pattern | undefined {
  if (pattern === "*") return { kind: "any" };
  const [, inner] = /^\*+([^*?[\]\\/]+)\*+$/.exec(pattern) ?? [];
  if (inner !== undefined) return { kind: "contains", text: inner };
  const parts = partsOf(pattern.replaceAll("/", ""));
  if (!parts) return undefined;
  const slash = pattern.includes("/") ? "/*" : "";
  const source = parts.reduce(
    (all, part) => (all.endsWith(ANY) || part === ANY ? all + part : all + slash + part),
    "",
  );
  return { kind: "matches", source };
}

const ANY = ".*";

/** Returns the parts of a pattern without slashes as parts of a regular expression. */
function partsOf(pattern: string): string[] | undefined {
  const parts: string[] = [];
  let rest = pattern;
  while (rest !== "") {
    const [whole = "", star, one, range, escaped, plain] = PART.exec(rest) ?? [];
    if (whole === "") return undefined;
    if (star) parts.push(ANY);
    else if (one) parts.push("[^/]");
    else if (range !== undefined) {
      const found = rangeOf(range);
      if (found === undefined) return undefined;
      parts.push(found);
    } else parts.push(quoted(escaped ?? plain ?? ""));
    rest = rest.slice(whole.length);
  }
  return parts;
}

// A range begins with at least one character, which may be a bracket only behind a backslash.
const PART = /^(?:(\*+)|(\?)|\[((?:\\.|[^\]\\])+)\]|\\(.)|([^*?[\\]))/su;
const RANGE = /^(?:\\(.)|([^\\-]))(?:-(?:\\(.)|([^\\-])))?/su;

/** Returns the inside of brackets as a class of a regular expression. */
function rangeOf(inside: string): string | undefined {
  const isNegated = inside.startsWith("^");
  let rest = isNegated ? inside.slice(1) : inside;
  let members = "";
  while (rest !== "") {
    const [whole = "", escapedFrom, from = escapedFrom ?? "", escapedTo, to = escapedTo] =
      RANGE.exec(rest) ?? [];
    if (whole === "" || (to !== undefined && to < from)) return undefined;
    members += to === undefined ? quoted(from) : `${quoted(from)}-${quoted(to)}`;
    rest = rest.slice(whole.length);
  }
  return members === "" ? undefined : isNegated ? `[^/${members}]` : `[${members}]`;
}
