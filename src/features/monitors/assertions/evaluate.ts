import { decodeText, UNREAD_CHARSET } from "../../../base/charset";
import { plural } from "../../../base/text";
import {
  type Assertion,
  type Expected,
  isLengthOp,
  LENGTH_OPS,
  type Op,
  parseStatusRange,
} from "./assertions";
import { lengthOf, NOTHING, parseJsonPath, valueAt } from "./json-path";
import { parsePattern, PATTERN_LOOKS_AT, type ReadPattern } from "./pattern";
import { describeAssertion, describeFailure, type Failure } from "./words";

/** Parts of a response that assertions use. Plain data, so that it can be sent to a thread. */
export interface Subject {
  status: number;
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  latencyMs: number;
  /** Null without a certificate. */
  certificateDays: number | null;
  /** Name of the intermediate certificate that expires before that of the server; null for that of the server. */
  intermediate?: string | null;
  /**
   * The decompressed body with its character set, if that is known, or a sentence why it cannot be read.
   * Absent if not needed.
   */
  body?:
    { bytes: Uint8Array; isTruncated: boolean; charset?: string | undefined } | { problem: string };
}

/** The first failure, null if every assertion holds, or the number that hold before a pause. */
export type Progress = { failure: Failure | null } | { held: number };

/**
 * Evaluates assertions in order until one fails. `canContinue` is called after each assertion that
 * holds; if it returns false, the rest is left for later.
 */
export function evaluate(
  assertions: readonly Assertion[],
  subject: Subject,
  {
    readPattern = parsePattern,
    canContinue = () => true,
  }: { readPattern?: ReadPattern; canContinue?: () => boolean } = {},
): Progress {
  const body = new BodyReader(subject.body);
  for (const [index, assertion] of assertions.entries()) {
    const actual = findValue(assertion, subject, body);
    if (actual instanceof Unreadable) {
      const { problem: message, publicProblem: publicMessage } = actual;
      return { failure: { assertion, message, publicMessage, isUndecided: true } };
    }
    const readBytes = assertion.source === "body" ? body.readBytes : undefined;
    const verdict = isAsExpected(assertion, actual, readPattern, readBytes !== undefined);
    if (verdict === undefined) {
      const isLimited = readBytes === undefined || assertion.op === "matches";
      const problem =
        isLimited && (readBytes ?? Infinity) > PATTERN_LOOKS_AT
          ? LONG_TEXT
          : `Only the first ${sizeInWords(readBytes ?? 0)} of the body were read.`;
      const message = `The ${describeAssertion(assertion)}. ${problem}`;
      return { failure: { assertion, message, publicMessage: NOT_READ, isUndecided: true } };
    }
    if (!verdict) return { failure: describeFailure(assertion, actual, subject.intermediate) };
    const held = index + 1;
    if (held < assertions.length && !canContinue()) return { held };
  }
  return { failure: null };
}

const LONG_TEXT = `Only its first ${PATTERN_LOOKS_AT.toLocaleString("en-US")} characters were searched.`;

function findValue(assertion: Assertion, subject: Subject, body: BodyReader): unknown {
  switch (assertion.source) {
    case "status":
      return subject.status;
    case "latency":
      return subject.latencyMs;
    case "certificate_days":
      return subject.certificateDays ?? NOTHING;
    case "header":
      return subject.headers.get(assertion.property.toLowerCase()) ?? NOTHING;
    case "body":
      return body.text();
    case "json": {
      const document = body.json();
      const path = parseJsonPath(assertion.property);
      if (document instanceof Unreadable || !path) return document;
      return valueAt(document, path);
    }
  }
}

/** Returns undefined if text that was not read decides: `isCut` says that the value goes on. */
function isAsExpected(
  assertion: Assertion,
  actual: unknown,
  readPattern: ReadPattern,
  isCut: boolean,
): boolean | undefined {
  const { source, op, value } = assertion;
  if (source === "status" && op === "in") {
    return (value as readonly (number | string)[]).some((entry) => {
      const range = parseStatusRange(String(entry));
      return range !== undefined && Number(actual) >= range.from && Number(actual) <= range.to;
    });
  }
  if (!isCut) return holds(actual, op, value, readPattern);
  return beginningHolds(String(actual), op, String(value), readPattern);
}

/** Returns true or false if the beginning of a text decides, undefined otherwise. */
function beginningHolds(
  beginning: string,
  op: Op,
  expected: string,
  readPattern: ReadPattern,
): boolean | undefined {
  const canBeSame = expected.startsWith(beginning);
  switch (op) {
    case "contains":
      return beginning.includes(expected) || undefined;
    case "not_contains":
      return beginning.includes(expected) ? false : undefined;
    case "eq":
      return canBeSame ? undefined : false;
    case "ne":
      return canBeSame ? undefined : true;
    default:
      return matches(beginning, expected, readPattern, true);
  }
}

/**
 * Possible continuations of a text that goes on. A match with each of them depends on no end, word or character
 * that was not read.
 */
const CONTINUATIONS = ["", "\uffff", "a"] as const;

/** Returns undefined if a pattern is not found in the part of a text that is searched. */
function matches(
  text: string,
  source: string,
  readPattern: ReadPattern,
  isCut: boolean,
): boolean | undefined {
  const pattern = readPattern(source);
  if (typeof pattern === "string") return false;
  if (!isCut && text.length <= PATTERN_LOOKS_AT) return pattern(text);
  const beginning = text.slice(0, PATTERN_LOOKS_AT);
  return CONTINUATIONS.every((more) => pattern(beginning + more)) || undefined;
}

/** Marks a body or document that cannot be read. Limits of the monitor are not for the public. */
class Unreadable {
  constructor(
    readonly problem: string,
    readonly publicProblem = problem,
  ) {}
}

const NOT_READ = "The body of the response was not read to its end.";

/** Decodes and parses a body at most once, and only if an assertion needs it. */
class BodyReader {
  readonly #body: Subject["body"];
  #text: string | undefined;
  #document: { value: unknown } | undefined;

  constructor(body: Subject["body"]) {
    this.#body = body;
  }

  text(): string | Unreadable {
    if (!this.#body) throw new Error("the body was not read");
    if ("problem" in this.#body) return new Unreadable(this.#body.problem);
    const { bytes, charset, isTruncated } = this.#body;
    if (charset === UNREAD_CHARSET) {
      return new Unreadable("The body has a character set that browsers do not read either.");
    }
    this.#text ??= decodeText(bytes, charset, isTruncated);
    return this.#text;
  }

  /** Number of bytes that were read of a longer body; undefined for a complete one. */
  get readBytes(): number | undefined {
    if (!this.#body || "problem" in this.#body || !this.#body.isTruncated) return undefined;
    return this.#body.bytes.length;
  }

  /** Returns the document in the body, or `Unreadable`. */
  json(): unknown {
    this.#document ??= { value: this.#parse() };
    return this.#document.value;
  }

  #parse(): unknown {
    const text = this.text();
    if (text instanceof Unreadable) return text;
    if (this.readBytes !== undefined) {
      const size = sizeInWords(this.readBytes);
      return new Unreadable(
        `The body is too long to be read as JSON: only its first ${size} were read.`,
        NOT_READ,
      );
    }
    try {
      return JSON.parse(text);
    } catch {
      return new Unreadable("The body is not JSON.");
    }
  }
}

/**
 * Returns true if the value found is as expected, undefined if a regular expression is not found in the part of
 * a long text that is searched. `actual` is a scalar, a JSON value, or `NOTHING`.
 */
export function holds(
  actual: unknown,
  op: Op,
  expected: Expected | undefined,
  readPattern: ReadPattern = parsePattern,
): boolean | undefined {
  if (isLengthOp(op)) return holds(lengthOf(actual), LENGTH_OPS[op], expected);
  switch (op) {
    case "exists":
      return (actual !== NOTHING) === (expected ?? true);
    case "eq":
      return actual !== NOTHING && isSame(actual, expected);
    case "ne":
      return actual === NOTHING || !isSame(actual, expected);
    case "contains":
      return actual !== NOTHING && contains(actual, expected);
    case "not_contains":
      return actual === NOTHING || !contains(actual, expected);
    case "matches":
      return isScalar(actual) && matches(String(actual), String(expected), readPattern, false);
    case "in":
      return Array.isArray(expected) && expected.some((entry) => isSame(actual, entry));
    default:
      return compares(numberIn(actual), op, numberIn(expected));
  }
}

function compares(actual: number, op: "lt" | "lte" | "gt" | "gte", expected: number): boolean {
  switch (op) {
    case "lt":
      return actual < expected;
    case "lte":
      return actual <= expected;
    case "gt":
      return actual > expected;
    case "gte":
      return actual >= expected;
  }
}

/**
 * Compares values. Forms contain text, so `"5"` also equals the number 5 and `"true"` the value
 * true. Two texts must be identical: `1.10` and `1.1` are different versions.
 */
function isSame(actual: unknown, expected: unknown): boolean {
  if (!isScalar(actual)) return false;
  if (typeof actual === "number" || typeof expected === "number") {
    return numberIn(actual) === numberIn(expected);
  }
  return String(actual) === String(expected);
}

/** Returns true if a text contains the other, or a list contains the value. */
function contains(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(actual)) return actual.some((value) => isSame(value, expected));
  return isScalar(actual) && String(actual).includes(String(expected));
}

function isScalar(value: unknown): boolean {
  return value !== NOTHING && (typeof value !== "object" || value === null);
}

/** No two parts can match the same digits, so the time is proportional to the length. */
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Returns the number in a value; NaN, which no comparison accepts, without one. */
function numberIn(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : Number.NaN;
}

/** Describes a number of bytes: "256 KiB", or the exact number. */
function sizeInWords(bytes: number): string {
  return bytes > 0 && bytes % 1024 === 0 ? `${bytes / 1024} KiB` : plural(bytes, "byte");
}
