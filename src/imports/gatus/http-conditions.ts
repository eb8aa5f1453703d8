/* Conditions on responses of HTTP, as assertions. */
import type { Assertion } from "../../features/monitors/assertions/assertions";
import { patternProblem } from "../../features/monitors/assertions/pattern";
import {
  anyOf,
  comparedNumber,
  type Comparison,
  jsonPathOf,
  patOf,
  wholeNumber,
} from "./condition";
import {
  FRACTION,
  isMet,
  isOrder,
  type Meaning,
  MET,
  NEVER,
  type NoMeaning,
  OPS,
  remainingDays,
  UNKNOWN,
} from "./meaning";
import { quoted, readPattern } from "./pattern";

const STATUSES = Array.from({ length: 500 }, (_, index) => index + 100);
const LATENCY_MAX_MS = 600_000;
const LARGE = { problem: "the pattern is too large here" };

/** Reads `[STATUS]`. */
export function statusMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  if (subject.wrapper !== undefined) return UNKNOWN;
  const source = "status";
  if (isOrder(comparator)) {
    const number = comparedNumber(value)?.value;
    if (number === undefined) return UNKNOWN;
    const met = STATUSES.filter((status) => isMet(status, comparator, number));
    if (met.length === 0) return NEVER;
    if (met.length === STATUSES.length) return { assertions: [{ source, op: "gte", value: 100 }] };
    return { assertions: [{ source, op: OPS[comparator], value: number }] };
  }
  const pattern = patOf(value);
  if (pattern !== undefined) {
    const isMatch = matcherOf(pattern);
    const met = STATUSES.filter((status) => isMatch(String(status)) === (comparator === "=="));
    return met.length === 0 ? NEVER : { assertions: [{ source, op: "in", value: rangesOf(met) }] };
  }
  const options = anyOf(value);
  const wanted = (options ?? [value]).flatMap((option) => {
    const number = options ? Number(option) : wholeNumber(option);
    return number !== undefined && STATUSES.includes(number) ? [number] : [];
  });
  if (comparator === "!=") {
    if (wanted.length === 0) return { assertions: [{ source, op: "gte", value: 100 }] };
    return { assertions: wanted.map((status) => ({ source, op: "ne", value: status })) };
  }
  const [only] = wanted;
  if (only === undefined) return NEVER;
  return {
    assertions: [
      options ? { source, op: "in", value: wanted.map(String) } : { source, op: "eq", value: only },
    ],
  };
}

function matcherOf(pattern: string): (text: string) => boolean {
  const read = readPattern(pattern);
  if (!read) return () => false;
  if (read.kind === "any") return () => true;
  if (read.kind === "contains") return (text) => text.includes(read.text);
  const expression = new RegExp(`^(?:${read.source})$`, "s");
  return (text) => expression.test(text);
}

/** Returns numbers in ascending order as ranges, such as `200-299`. */
function rangesOf(numbers: readonly number[]): string[] {
  const ranges: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.to === number - 1) last.to = number;
    else ranges.push({ from: number, to: number });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
}

/** Reads `[RESPONSE_TIME]`. */
export function latencyMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const whole = isOrder(comparator) ? undefined : wholeNumber(value);
  const number = whole === undefined ? comparedNumber(value) : { value: whole, isCut: false };
  if (subject.wrapper !== undefined || !number) return UNKNOWN;
  // Without an order, Gatus compares with the text of a duration.
  if (!isOrder(comparator) && whole === undefined) return comparator === "==" ? NEVER : MET;
  const least = 0;
  const limit = Math.trunc(number.value);
  if (limit < least || limit > LATENCY_MAX_MS) {
    return isMet(least, comparator, limit) ? MET : NEVER;
  }
  const difference = number.isCut ? "The time is cut to whole milliseconds." : undefined;
  return { assertions: [{ source: "latency", op: OPS[comparator], value: limit }], difference };
}

/** Reads `[CERTIFICATE_EXPIRATION]`. */
export function certificateMeaning(comparison: Comparison): Meaning | NoMeaning {
  const read = remainingDays(comparison);
  if ("problem" in read) return read;
  const { days: value, op, difference } = read;
  return { assertions: [{ source: "certificate_days", op, value }], difference };
}

/** Reads `[BODY]`, whose white space at both ends does not count. */
export function bodyMeaning(comparison: Comparison): Meaning | NoMeaning {
  const { subject, comparator, value } = comparison;
  if (subject.wrapper === "len") {
    const read = lengthMeaning(comparison, "$");
    const difference = "It counts the entries of a list in JSON, and fails for other bodies.";
    return "problem" in read ? read : { ...read, difference };
  }
  if (subject.wrapper === "has") {
    const wanted = existenceOf(comparison);
    if (wanted === undefined) return UNKNOWN;
    return bodyMatches(wanted ? "[^\\s]" : "\\A\\s*\\z");
  }
  if (isOrder(comparator)) return numberMeaning(comparison, "$");
  const pattern = patOf(value);
  if (pattern !== undefined) return bodyPattern(comparator, pattern);
  const options = anyOf(value) ?? [value];
  if (comparator === "==") {
    const exact = bodyMatches(`(?s)\\A\\s*(?:${options.map(quoted).join("|")})\\s*\\z`);
    if (exact !== LARGE || options.length > 1) return exact;
  }
  return {
    assertions: options.map((text) => ({ source: "body", op: OPS[comparator], value: text })),
    difference: "White space at the ends of the body counts here.",
  };
}

function bodyPattern(comparator: "==" | "!=", pattern: string): Meaning | NoMeaning {
  const read = readPattern(pattern);
  const isWanted = comparator === "==";
  if (!read) return isWanted ? NEVER : MET;
  if (read.kind === "any") return isWanted ? MET : NEVER;
  if (read.kind === "contains") {
    const op = isWanted ? "contains" : "not_contains";
    return { assertions: [{ source: "body", op, value: read.text }] };
  }
  return isWanted ? bodyMatches(`(?s)\\A\\s*${read.source}\\s*\\z`) : UNKNOWN;
}

function bodyMatches(value: string): Meaning | NoMeaning {
  if (patternProblem(value) !== undefined) return LARGE;
  return { assertions: [{ source: "body", op: "matches", value }] };
}

/** Reads `[BODY]` with a path. */
export function jsonMeaning(comparison: Comparison): Meaning | NoMeaning {
  const { subject, comparator, value } = comparison;
  const property = jsonPathOf(subject.path);
  if (property === undefined) return { problem: "its path is none to a single value" };
  if (subject.wrapper === "len") return lengthMeaning(comparison, property);
  if (subject.wrapper === "has") {
    const wanted = existenceOf(comparison);
    if (wanted === undefined) return UNKNOWN;
    return { assertions: [{ source: "json", property, op: "exists", value: wanted }] };
  }
  if (isOrder(comparator)) return numberMeaning(comparison, property);
  const isWanted = comparator === "==";
  const pattern = patOf(value);
  if (pattern !== undefined) return jsonPattern(property, isWanted, pattern);
  const options = anyOf(value);
  if (options && isWanted) {
    return { assertions: [{ source: "json", property, op: "in", value: options }] };
  }
  if (/^[[{]/.test(value)) return { problem: "it compares a whole list or object" };
  const texts = options ?? [value];
  return {
    assertions: texts.map((text) => ({
      source: "json",
      property,
      op: OPS[comparator],
      value: text,
    })),
  };
}

function jsonPattern(property: string, isWanted: boolean, pattern: string): Meaning | NoMeaning {
  const read = readPattern(pattern);
  if (!read) return isWanted ? NEVER : MET;
  const source = "json";
  if (read.kind === "any") return isWanted ? MET : NEVER;
  if (read.kind === "contains") {
    const op = isWanted ? "contains" : "not_contains";
    return { assertions: [{ source, property, op, value: read.text }] };
  }
  if (!isWanted) return UNKNOWN;
  const value = `(?s)\\A${read.source}\\z`;
  if (patternProblem(value) !== undefined) return LARGE;
  return { assertions: [{ source, property, op: "matches", value }] };
}

/** Reads a comparison of `len(…)`. */
function lengthMeaning({ comparator, value }: Comparison, property: string): Meaning | NoMeaning {
  const number = wholeNumber(value);
  if (number === undefined || number < 0) return UNKNOWN;
  const assertion = (op: "eq" | "lt" | "lte" | "gt" | "gte"): Meaning => ({
    assertions: [{ source: "json", property, op: `length_${op}`, value: number }],
  });
  if (comparator !== "!=") return assertion(OPS[comparator]);
  return number === 0 ? assertion("gt") : UNKNOWN;
}

/** Reads a comparison of numbers. */
function numberMeaning(
  { subject, comparator, value }: Comparison,
  property: string,
): Meaning | NoMeaning {
  const number = comparedNumber(value);
  if (subject.wrapper !== undefined || !isOrder(comparator) || !number) return UNKNOWN;
  const assertion: Assertion = {
    source: "json",
    property,
    op: OPS[comparator],
    value: number.value,
  };
  return { assertions: [assertion], difference: number.isCut ? FRACTION : undefined };
}

/** Returns the value that `has(…)` must have; undefined for a comparison with another text. */
function existenceOf({ comparator, value }: Comparison): boolean | undefined {
  if (isOrder(comparator) || (value !== "true" && value !== "false")) return undefined;
  return (value === "true") === (comparator === "==");
}
