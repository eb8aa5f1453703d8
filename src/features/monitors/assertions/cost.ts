import type { Subject } from "./evaluate";
import type { Assertion } from "./model";

/*
 * The longest time that each step takes for a character, in nanoseconds, measured with the inputs that are
 * worst for it: bytes that are not UTF-8, arrays in arrays, texts that differ from the expected one in
 * their middle, lists of digits.
 */
const DECODE_NS = 15;
const PARSE_JSON_NS = 110;
const SEARCH_LIST_NS = 80;
const SEARCH_TEXT_NS = 0.5;
const COMPARE_NS = 2;

/**
 * Upper bound of the time that an evaluation takes, in nanoseconds. Infinite for regular expressions: their
 * time depends on how many states they reach.
 */
export function evaluationCostNs(assertions: readonly Assertion[], subject: Subject): number {
  const bodyLength = subject.body && "bytes" in subject.body ? subject.body.bytes.length : 0;
  let cost = 0;
  if (assertions.some(({ source }) => source === "body" || source === "json")) {
    cost += DECODE_NS * bodyLength;
  }
  if (assertions.some(({ source }) => source === "json")) cost += PARSE_JSON_NS * bodyLength;
  for (const assertion of assertions) {
    if (assertion.op === "matches") return Number.POSITIVE_INFINITY;
    cost += lengthOf(assertion, subject, bodyLength) * costPerCharacterNs(assertion);
  }
  return cost;
}

function lengthOf(assertion: Assertion, { headers }: Subject, bodyLength: number): number {
  if (assertion.source === "body" || assertion.source === "json") return bodyLength;
  if (assertion.source !== "header") return 0;
  return headers.get(assertion.property.toLowerCase())?.length ?? 0;
}

function costPerCharacterNs({ source, op, value }: Assertion): number {
  if (op !== "contains" && op !== "not_contains") return COMPARE_NS;
  const search = SEARCH_TEXT_NS * String(value).length;
  return source === "json" ? SEARCH_LIST_NS + search : COMPARE_NS + search;
}
