import { readGoDuration } from "../../base/go-duration";
import type { ImportChange } from "../../base/import-report";
import { oneLine } from "../../base/text";
import { DAY_MS } from "../../base/time";
import type { Assertion } from "../../features/monitors/assertions/assertions";
import { patternProblem } from "../../features/monitors/assertions/pattern";

/* Conditions of Gatus: what becomes of each in a monitor here. `readConditions` reads those of an endpoint. */

/** Parts of a monitor that one condition decides. Nothing at all if every check of its type demands it. */
interface Meaning {
  assertions?: readonly Assertion[];
  /** True for a condition that is met if the check fails. */
  isInverted?: boolean;
  /** Time limit of a whole check, in ms. */
  timeoutMs?: number;
  /** Days that a certificate must still be valid. */
  certificateDays?: number;
  /** Days that the registration of the domain must still be valid, for a monitor of its own. */
  domainDays?: number;
  /** Record of an answer of the DNS, or text in a message. */
  expected?: string;
  /** Difference that remains, in one sentence. */
  difference?: string | undefined;
}

/** A condition without counterpart: the reason, as the end of a sentence. */
interface NoMeaning {
  problem: string;
}

const NEVER: NoMeaning = { problem: "Gatus never finds it met" };
const UNKNOWN: NoMeaning = { problem: "it has no counterpart" };
const MET: Meaning = {};

/** Types of monitors that endpoints become. */
export type EndpointType =
  "http" | "tcp" | "tls" | "ping" | "dns" | "websocket" | "grpc" | "ssh" | "smtp";

interface ConditionRow {
  /** Conditions, as examples. */
  conditions: readonly string[];
  becomes: string;
  read(comparison: Comparison, type: EndpointType): Meaning | NoMeaning;
}

/** Values that conditions compare, and what becomes of each. */
export const CONDITIONS: Readonly<Record<Source, ConditionRow>> = {
  status: {
    conditions: ["[STATUS] == 200", "[STATUS] == any(200, 429)", "[STATUS] < 300"],
    becomes:
      "Assertions on `status`, with `eq`, `in`, `lt` and so on; patterns as ranges. Without a condition about it `status gte 100`, since monitors without one demand 2xx.",
    read: (comparison, type) =>
      type === "http" ? statusMeaning(comparison) : statusElsewhere(comparison),
  },
  latency: {
    conditions: ["[RESPONSE_TIME] < 500"],
    becomes:
      "`latency lt 500`, which includes reading the body. Other types than `http`: the time limit of a check.",
    read: (comparison, type) =>
      type === "http" ? latencyMeaning(comparison) : timeLimitMeaning(comparison),
  },
  certificate: {
    conditions: ["[CERTIFICATE_EXPIRATION] > 48h"],
    becomes:
      "`certificate_days gte 2`, down to whole days. For `tls` its days; for mail servers a warning.",
    read(comparison, type) {
      if (type === "http") return certificateMeaning(comparison);
      return type === "tls" || type === "smtp" ? validityMeaning(comparison, type) : UNKNOWN;
    },
  },
  domain: {
    conditions: ["[DOMAIN_EXPIRATION] > 720h"],
    becomes: "A monitor of the type `domain` on the same component, which warns from then on.",
    read: domainMeaning,
  },
  connected: {
    conditions: ["[CONNECTED] == true", "[CONNECTED] == false"],
    becomes: "Nothing, since every check demands it; `false` alone is `inverted`.",
    read: connectedMeaning,
  },
  rcode: {
    conditions: ["[DNS_RCODE] == NOERROR"],
    becomes: "Nothing, since the check demands it. Switched off with another code.",
    read: ({ subject, comparator, value }, type) =>
      type === "dns" &&
      subject.wrapper === undefined &&
      comparator === "==" &&
      value.toUpperCase() === "NOERROR"
        ? MET
        : UNKNOWN,
  },
  body: {
    conditions: ["[BODY] == pat(*ok*)", "[BODY] == ok", "len([BODY]) > 0"],
    becomes:
      "`body contains`, or `matches` with the pattern as a regular expression. For `dns` a record that the answer must have, for web sockets a text in the first message.",
    read(comparison, type) {
      if (type === "http") return bodyMeaning(comparison);
      if (type === "dns") return recordMeaning(comparison);
      return type === "websocket" ? messageMeaning(comparison) : UNKNOWN;
    },
  },
  json: {
    conditions: [
      "[BODY].a.b[0] == x",
      "[BODY].a == any(x, y)",
      "len([BODY].a) == 3",
      "has([BODY].a) == true",
    ],
    becomes:
      "Assertions on `json` at `$.a.b[0]`, with `eq`, `in`, `length_eq`, `exists` and so on. A value that the body lacks, which Gatus takes as 0 for `<` and its kin, fails. Switched off for names with `*` and other unusual paths.",
    read(comparison, type) {
      if (type === "http") return jsonMeaning(comparison);
      return type === "grpc" ? servingMeaning(comparison) : UNKNOWN;
    },
  },
  ip: { conditions: ["[IP] == 10.0.0.1"], becomes: "Switched off.", read: () => UNKNOWN },
  context: { conditions: ["[CONTEXT].id == 1"], becomes: "Switched off.", read: () => UNKNOWN },
};

/** Parts of a monitor that all conditions of an endpoint decide. */
export interface ReadConditions {
  assertions: Assertion[];
  isInverted: boolean;
  timeoutMs: number | undefined;
  certificateDays: number | undefined;
  domainDays: number | undefined;
  expected: string[];
  changes: ImportChange[];
  /** Reasons, in one sentence each, for which the monitor is switched off. */
  disabled: string[];
}

/** Reads the conditions of an endpoint that becomes a monitor of a type. */
export function readConditions(conditions: readonly string[], type: EndpointType): ReadConditions {
  const meanings: Meaning[] = [];
  const changes: ImportChange[] = [];
  const disabled: string[] = [];
  let isAboutStatus = false;
  for (const text of conditions) {
    const comparison = parseCondition(text);
    const read =
      "problem" in comparison
        ? comparison
        : CONDITIONS[comparison.subject.source].read(comparison, type);
    isAboutStatus ||= "subject" in comparison && comparison.subject.source === "status";
    if ("problem" in read) {
      disabled.push(`The condition “${oneLine(text)}” is not moved, since ${read.problem}.`);
    } else {
      meanings.push(read);
      if (read.difference !== undefined) {
        const to = inWords(read);
        changes.push({ field: "conditions", from: oneLine(text), to, reason: read.difference });
      }
    }
  }
  const assertions = meanings.flatMap((meaning) => meaning.assertions ?? []);
  const isInverted = meanings.some((meaning) => meaning.isInverted === true);
  if (isInverted && meanings.some((each) => each.isInverted !== true && each !== MET)) {
    disabled.push("It must fail to connect, and has other conditions.");
  }
  if (type === "http" && !isAboutStatus) {
    assertions.push({ source: "status", op: "gte", value: 100 });
  }
  return {
    assertions,
    isInverted,
    timeoutMs: least(meanings.map(({ timeoutMs }) => timeoutMs)),
    certificateDays: most(meanings.map(({ certificateDays }) => certificateDays)),
    domainDays: most(meanings.map(({ domainDays }) => domainDays)),
    expected: meanings.flatMap(({ expected }) => expected ?? []),
    changes,
    disabled,
  };
}

/** Returns what a condition becomes, for the report. */
function inWords({ assertions = [], ...meaning }: Meaning): string {
  if (meaning.timeoutMs !== undefined) return `timeout_ms ${meaning.timeoutMs}`;
  if (meaning.domainDays !== undefined) return `${meaning.domainDays} days`;
  if (meaning.certificateDays !== undefined) return `${meaning.certificateDays} days`;
  if (meaning.expected !== undefined) return oneLine(meaning.expected);
  const words = assertions.map(({ source, op, value, ...more }) =>
    [source, "property" in more ? more.property : "", op, String(value)].filter(Boolean).join(" "),
  );
  return oneLine(words.join(", "));
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const known = values.flatMap((value) => value ?? []);
  return known.length > 0 ? known.reduce((a, b) => Math.min(a, b)) : undefined;
}

function most(values: readonly (number | undefined)[]): number | undefined {
  const known = values.flatMap((value) => value ?? []);
  return known.length > 0 ? known.reduce((a, b) => Math.max(a, b)) : undefined;
}

/** Ops of assertions, by the comparator. */
const OPS = {
  "==": "eq",
  "!=": "ne",
  "<": "lt",
  "<=": "lte",
  ">": "gt",
  ">=": "gte",
} as const;

type Order = Exclude<Comparison["comparator"], "==" | "!=">;

function isOrder(comparator: Comparison["comparator"]): comparator is Order {
  return comparator !== "==" && comparator !== "!=";
}

/** Compares as Gatus does. */
function isMet(left: number, comparator: Comparison["comparator"], right: number): boolean {
  switch (comparator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

const FRACTION = "Gatus cuts off fractions, which count here.";

/** Reads `[CONNECTED]`, which every check demands. */
function connectedMeaning({ comparator, value, subject }: Comparison): Meaning | NoMeaning {
  if (subject.wrapper !== undefined || isOrder(comparator)) return UNKNOWN;
  if (value !== "true" && value !== "false") return comparator === "==" ? NEVER : MET;
  const isWanted = (value === "true") === (comparator === "==");
  return isWanted ? MET : { isInverted: true };
}

/** Reads a time that must remain until an expiry, in whole days. */
function remainingDays({
  comparator,
  value,
  subject,
}: Comparison): { days: number; op: "gte" | "lt"; difference?: string } | NoMeaning {
  const number = comparedNumber(value);
  if (subject.wrapper !== undefined || !isOrder(comparator) || !number) return UNKNOWN;
  const days = Math.floor(number.value / DAY_MS);
  const op = comparator === ">" || comparator === ">=" ? "gte" : "lt";
  const isExact = days * DAY_MS === number.value;
  return { days, op, ...(!isExact && { difference: "The time is cut to whole days." }) };
}

/** Reads `[DOMAIN_EXPIRATION]`. */
function domainMeaning(comparison: Comparison): Meaning | NoMeaning {
  const read = remainingDays(comparison);
  if ("problem" in read) return read;
  const { days, op, difference } = read;
  return op === "gte" ? { domainDays: Math.min(Math.max(days, 0), 365), difference } : UNKNOWN;
}

/** Reads `[STATUS]` of other types than HTTP, where it is 0 if the check succeeds. */
function statusElsewhere({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  return subject.wrapper === undefined && comparator === "==" && value === "0" ? MET : UNKNOWN;
}

/** Least time limit of a check, in ms. */
export const TIMEOUT_MIN_MS = 100;

function timeLimitMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const limit = comparedNumber(value)?.value ?? 0;
  const isUpper = comparator === "<" || comparator === "<=";
  if (subject.wrapper !== undefined || !isUpper || limit <= 0) return UNKNOWN;
  return {
    timeoutMs: Math.max(Math.trunc(limit), TIMEOUT_MIN_MS),
    difference:
      "Its type has no condition on the response time, so it becomes the time limit of a check.",
  };
}

function validityMeaning(comparison: Comparison, type: "tls" | "smtp"): Meaning | NoMeaning {
  const read = remainingDays(comparison);
  if ("problem" in read) return read;
  if (read.op !== "gte" || read.days < 0 || read.days > 365) return UNKNOWN;
  const { days: certificateDays, difference } = read;
  if (type === "tls") return { certificateDays, difference };
  return { certificateDays, difference: "Here it warns, and the check does not fail." };
}

function recordMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const isText =
    subject.wrapper === undefined && comparator === "==" && !/^(any|pat)\(/.test(value);
  return isText ? { expected: value } : UNKNOWN;
}

function messageMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  if (subject.wrapper !== undefined || comparator !== "==" || value.startsWith("any("))
    return UNKNOWN;
  const pattern = patOf(value);
  if (pattern === undefined) {
    const difference = "The first message must contain it, and may contain more.";
    return { expected: value, difference };
  }
  const read = readPattern(pattern);
  return read?.kind === "contains" ? { expected: read.text } : UNKNOWN;
}

function servingMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
  const isStatus = subject.wrapper === undefined && subject.path === "status";
  return isStatus && comparator === "==" && value === "SERVING" ? MET : UNKNOWN;
}

const STATUSES = Array.from({ length: 500 }, (_, index) => index + 100);
const LATENCY_MAX_MS = 600_000;
const LARGE = { problem: "the pattern is too large here" };

/** Reads `[STATUS]`. */
function statusMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
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
function latencyMeaning({ subject, comparator, value }: Comparison): Meaning | NoMeaning {
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
function certificateMeaning(comparison: Comparison): Meaning | NoMeaning {
  const read = remainingDays(comparison);
  if ("problem" in read) return read;
  const { days: value, op, difference } = read;
  return { assertions: [{ source: "certificate_days", op, value }], difference };
}

/** Reads `[BODY]`, whose white space at both ends does not count. */
function bodyMeaning(comparison: Comparison): Meaning | NoMeaning {
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
function jsonMeaning(comparison: Comparison): Meaning | NoMeaning {
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

/* Texts of conditions: comparisons, subjects, and patterns. */

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
type Source = (typeof PLACEHOLDERS)[keyof typeof PLACEHOLDERS] | "json" | "context";

interface Subject {
  source: Source;
  /** Function around the placeholder. */
  wrapper: "len" | "has" | undefined;
  /** Path behind `[BODY]`, for `json`. */
  path: string;
}

/** A condition with its placeholder on the left. */
interface Comparison {
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
function comparedNumber(text: string): ReadNumber | undefined {
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
function anyOf(text: string): string[] | undefined {
  const [, inner] = /^any\((.*)\)$/s.exec(text) ?? [];
  return inner?.split(",").map((option) => option.trim());
}

/** Returns the pattern in `pat(…)`; undefined for another text. */
function patOf(text: string): string | undefined {
  return /^pat\((.*)\)$/s.exec(text)?.[1];
}

const KEY = /^([^[\]*()'"\\\p{Cc}]*)((?:\[\d{1,9}\])*)$/u;
const IDENTIFIER = /^[A-Za-z_\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}]*$/u;

/** Returns a path of Gatus as a JSONPath; undefined for names with brackets, quotes or `*`, and for empty ones. */
function jsonPathOf(path: string): string | undefined {
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
function quoted(text: string): string {
  return text.replace(SPECIAL, (character) => (character === "/" ? character : `\\${character}`));
}

/** A pattern of Gatus as far as it is one of the simple kinds, or as a regular expression for the whole text. */
type Pattern =
  { kind: "any" } | { kind: "contains"; text: string } | { kind: "matches"; source: string };

/**
 * Reads the pattern in `pat(…)`: `*`, `?`, `[…]` and `\` as in file names, for the whole text. Gatus removes all
 * slashes from pattern and text, so a slash may be anywhere. Undefined for one that is not valid, which never matches.
 */
function readPattern(pattern: string): Pattern | undefined {
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
