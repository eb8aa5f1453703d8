import { NOTHING } from "./json-path";
import type { Assertion, Op } from "./model";

const SHOULD: Readonly<Record<Exclude<Op, "exists">, string>> = {
  eq: "be",
  ne: "not be",
  lt: "be below",
  lte: "be at most",
  gt: "be above",
  gte: "be at least",
  contains: "contain",
  not_contains: "not contain",
  matches: "match",
};

const LONGEST_EXPECTED = 80;
const LONGEST_PROPERTY = 80;

/**
 * An assertion that failed, as a sentence. Of the answer it repeats numbers, true, false and null, but
 * no text: the sentence may be read by the public, and an answer may hold anything.
 */
export function describeFailure(assertion: Assertion, found: unknown): string {
  const subject = subjectOf(assertion);
  if (found === NOTHING) {
    return assertion.source === "certificate_days"
      ? "There is no certificate."
      : `There is no ${subject}.`;
  }
  if (assertion.op === "exists") return `There is a ${subject}, and there should be none.`;
  const should = `should ${SHOULD[assertion.op]} ${quoted(assertion)}`;
  return isTellable(found)
    ? `The ${subject} is ${String(found)}${unitOf(assertion)}; it ${should}.`
    : `The ${subject} ${should}.`;
}

function subjectOf(assertion: Assertion): string {
  switch (assertion.source) {
    case "certificate_days":
      return "certificate's time left";
    case "header":
      return `header ${shortened(assertion.property, LONGEST_PROPERTY)}`;
    case "json":
      return `value at ${shortened(assertion.property, LONGEST_PROPERTY)}`;
    default:
      return assertion.source;
  }
}

function unitOf({ source }: Assertion): string {
  if (source === "latency") return " ms";
  return source === "certificate_days" ? " days" : "";
}

function quoted(assertion: Assertion): string {
  const { value } = assertion;
  if (typeof value !== "string") return `${String(value)}${unitOf(assertion)}`;
  const text = shortened(value, LONGEST_EXPECTED);
  return assertion.op === "matches" ? `/${text}/` : `“${text}”`;
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function isTellable(found: unknown): boolean {
  return found === null || typeof found === "number" || typeof found === "boolean";
}
