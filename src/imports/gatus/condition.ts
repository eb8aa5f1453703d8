import { readGoDuration } from "../../base/go-duration";

/** Comparisons of Gatus, in the order in which it looks for them, each with the one for swapped sides. */
const TURNED = { "==": "==", "!=": "!=", "<=": ">=", ">=": "<=", ">": "<", "<": ">" } as const;
type Comparator = keyof typeof TURNED;
const COMPARATORS = Object.keys(TURNED) as Comparator[];

/** Values of a check that conditions compare, by their placeholders. */
const PLACEHOLDERS = {
  "[STATUS]": "status",
  "[RESPONSE_TIME]": "latency",
  "[CERTIFICATE_EXPIRATION]": "certificate",
  "[DOMAIN_EXPIRATION]": "domain",
  "[CONNECTED]": "connected",
  "[DNS_RCODE]": "rcode",
  "[BODY]": "body",
  "[IP]": "ip",
} as const;
export type Source = (typeof PLACEHOLDERS)[keyof typeof PLACEHOLDERS] | "json" | "context";

interface Subject {
  source: Source;
  /** Function around the placeholder. */
  wrapper: "len" | "has" | undefined;
  /** Path behind `[BODY]`, for `json`. */
  path: string;
}

/** A condition with its placeholder on the left. */
export interface Comparison {
  subject: Subject;
  comparator: Comparator;
  /** Text on the other side. */
  value: string;
}

/** Longest condition that is read, in characters. Assertions have shorter texts. */
const CONDITION_MAX = 10_000;

/** Parses a condition as Gatus does. Returns the reason, as the end of a sentence, for which it has no counterpart. */
export function parseCondition(text: string): Comparison | { problem: string } {
  if (text.length > CONDITION_MAX) return { problem: "it is too long" };
  const comparator = COMPARATORS.find((each) => text.includes(` ${each} `));
  if (!comparator) return { problem: "it is no comparison" };
  const [left = "", right = ""] = text.split(` ${comparator} `).map((side) => side.trim());
  const [subject, turned] = [subjectOf(left), subjectOf(right)];
  if (subject && turned) return { problem: "it compares two values of the answer" };
  if (subject) return { subject, comparator, value: right };
  if (turned) return { subject: turned, comparator: TURNED[comparator], value: left };
  return { problem: "it compares no value of the answer" };
}

const WRAPPED = /^(len|has)\((.*)\)$/s;

/** Returns the placeholder in one side of a condition; undefined for a literal. Case counts in paths alone. */
function subjectOf(side: string): Subject | undefined {
  const [, wrapper, inner = side] = WRAPPED.exec(side) ?? [];
  const upper = inner.toUpperCase();
  const found = (source: Source, path = "") => ({
    source,
    wrapper: wrapper as Subject["wrapper"],
    path,
  });
  if (upper.startsWith("[CONTEXT]")) return found("context");
  if (Object.hasOwn(PLACEHOLDERS, upper)) {
    return found(PLACEHOLDERS[upper as keyof typeof PLACEHOLDERS]);
  }
  const path = inner.slice("[BODY]".length);
  return /^\[BODY\][.[]/.test(upper) ? found("json", path.replace(/^\./, "")) : undefined;
}

const WHOLE = /^[+-]?(?:[1-9]\d*|0|0x[0-9a-f]+|0o?[0-7]+|0b[01]+)$/i;

/** Returns the whole number in a text, in the bases that Gatus reads; undefined for other text. */
export function wholeNumber(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  const sign = text.startsWith("-") ? -1 : 1;
  const digits = text.replace(/^[+-]/, "").replace(/^0(?=[0-7])/, "0o");
  return sign * Number(digits);
}

/** A number in a condition, where a duration is in ms. */
interface ReadNumber {
  value: number;
  /** True if Gatus cuts off a fraction. */
  isCut: boolean;
}

/** Returns the number with which `<` and its kin compare; undefined for text, which Gatus takes as 0. */
export function comparedNumber(text: string): ReadNumber | undefined {
  const duration = readGoDuration(text);
  if ("ms" in duration && duration.ms !== 0) {
    return { value: Math.trunc(duration.ms), isCut: false };
  }
  const whole = wholeNumber(text);
  if (whole !== undefined) return { value: whole, isCut: false };
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? { value: number, isCut: !Number.isInteger(number) } : undefined;
}

/** Returns the values of `any(…)`; undefined for another text. */
export function anyOf(text: string): string[] | undefined {
  const [, inner] = /^any\((.*)\)$/s.exec(text) ?? [];
  return inner?.split(",").map((option) => option.trim());
}

/** Returns the pattern in `pat(…)`; undefined for another text. */
export function patOf(text: string): string | undefined {
  return /^pat\((.*)\)$/s.exec(text)?.[1];
}

const KEY = /^([^[\]*()'"\\\p{Cc}]*)((?:\[\d{1,9}\])*)$/u;
const IDENTIFIER = /^[A-Za-z_\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}]*$/u;

/** Returns a path of Gatus as a JSONPath; undefined for names with brackets, quotes or `*`, and for empty ones. */
export function jsonPathOf(path: string): string | undefined {
  let jsonPath = "$";
  for (const key of path.split(".")) {
    const [whole, name = "", indexes = ""] = KEY.exec(key) ?? [];
    if (whole === undefined || whole === "") return undefined;
    if (name !== "") jsonPath += IDENTIFIER.test(name) ? `.${name}` : `['${name}']`;
    jsonPath += indexes.replace(/\[0+(?=\d)/g, "[");
  }
  return jsonPath;
}

/** Characters with a meaning in a regular expression. */
const SPECIAL = /[\\^$.|?*+()[\]{}/-]/g;

/** Returns a text as a regular expression in RE2's syntax. */
export function quoted(text: string): string {
  return text.replace(SPECIAL, (character) => (character === "/" ? character : `\\${character}`));
}

/** A pattern of Gatus as far as it is one of the simple kinds, or as a regular expression for the whole text. */
type Pattern =
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
