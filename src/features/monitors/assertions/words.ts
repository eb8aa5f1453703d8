import { plural } from "../../../base/text";
import { nameOfExpiring } from "../../../egress/model";
import { type Assertion, isLengthOp, LENGTH_OPS, type Op } from "./assertions";
import { lengthOf, NOTHING } from "./json-path";

const SHOULD: Readonly<Record<Exclude<Op, "exists" | keyof typeof LENGTH_OPS>, string>> = {
  eq: "be",
  ne: "not be",
  lt: "be below",
  lte: "be at most",
  gt: "be above",
  gte: "be at least",
  in: "be one of",
  contains: "contain",
  not_contains: "not contain",
  matches: "match",
};

const LONGEST_EXPECTED = 80;
const LONGEST_PROPERTY = 80;

/** Messages of a failed assertion. */
export interface Failure {
  /** The assertion that failed; undefined for the rule that the status must be 2xx. */
  assertion?: Assertion;
  /**
   * Message for people who may see the monitor: it quotes the assertion. At most 300 characters.
   */
  message: string;
  /** Message for the public: only the observation, nothing of the monitor's configuration. */
  publicMessage: string;
  /** True if it is not known that the response is other than expected. */
  isUndecided?: boolean;
}

/**
 * Describes a failed assertion. Messages never repeat texts of the response, only numbers, true,
 * false and null.
 */
export function describeFailure(
  assertion: Assertion,
  actual: unknown,
  intermediate: string | null = null,
): Failure {
  return {
    assertion,
    message: messageOf(assertion, actual, intermediate),
    publicMessage: publicMessageOf(assertion, actual, intermediate),
  };
}

/** Describes an assertion: "status should be 200". */
export function describeAssertion(assertion: Assertion): string {
  const { op, value } = assertion;
  const subject = subjectOf(assertion);
  if (op === "exists") return `${subject} should ${value === false ? "not " : ""}exist`;
  const [what, compared] = isLengthOp(op)
    ? [`length of the ${subject}`, LENGTH_OPS[op]]
    : [subject, op];
  return `${what} should ${SHOULD[compared]} ${quoted(assertion)}`;
}

function publicMessageOf(
  { source }: Assertion,
  actual: unknown,
  intermediate: string | null,
): string {
  switch (source) {
    case "status":
      return `The status is ${String(actual)}.`;
    case "latency":
      return `The response took ${String(actual)} ms.`;
    case "certificate_days":
      return typeof actual === "number"
        ? certificateSentence(actual, intermediate)
        : "There is no certificate.";
    case "header":
      return "The headers of the response are not as expected.";
    case "body":
    case "json":
      return "The body of the response is not as expected.";
  }
}

/**
 * Returns a sentence about the expiry of a certificate, or of the intermediate one that expires first. `days` is
 * negative after the expiry.
 */
export function certificateSentence(days: number, intermediate: string | null): string {
  const subject = `The ${nameOfExpiring(intermediate)}`;
  return days < 0 ? `${subject} has expired.` : `${subject} expires in ${plural(days, "day")}.`;
}

function messageOf(assertion: Assertion, actual: unknown, intermediate: string | null): string {
  const subject = subjectOf(assertion, intermediate);
  if (actual === NOTHING) {
    return assertion.source === "certificate_days"
      ? "There is no certificate."
      : `There is no ${subject}.`;
  }
  if (assertion.op === "exists") return `There is a ${subject}, and there should be none.`;
  if (isLengthOp(assertion.op)) {
    const length = lengthOf(actual);
    if (Number.isNaN(length)) return `The ${subject} has no length.`;
    return `The length of the ${subject} is ${length}; it should ${SHOULD[LENGTH_OPS[assertion.op]]} ${quoted(assertion)}.`;
  }
  const should = `should ${SHOULD[assertion.op]} ${quoted(assertion)}`;
  return isTellable(actual)
    ? `The ${subject} is ${String(actual)}${unitOf(assertion)}; it ${should}.`
    : `The ${subject} ${should}.`;
}

function subjectOf(assertion: Assertion, intermediate: string | null = null): string {
  switch (assertion.source) {
    case "certificate_days":
      return `${nameOfExpiring(intermediate)}'s time left`;
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
  const { source, value } = assertion;
  if (Array.isArray(value)) {
    const entries = value.map((entry) =>
      typeof entry === "string" && source !== "status" ? `“${entry}”` : String(entry),
    );
    return shortened(entries.join(", "), LONGEST_EXPECTED);
  }
  if (typeof value !== "string") return `${String(value)}${unitOf(assertion)}`;
  const text = shortened(value, LONGEST_EXPECTED);
  return assertion.op === "matches" ? `/${text}/` : `“${text}”`;
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function isTellable(actual: unknown): boolean {
  return actual === null || typeof actual === "number" || typeof actual === "boolean";
}
