import { charsetOf } from "../../../base/charset";
import { Fault } from "../../../egress/model";
import type { StepRecorder } from "../../../egress/steps";
import { type Assertion, isLengthOp } from "./assertions";
import { evaluate, type Subject } from "./evaluate";
import { type AssertionEvaluator, type Evaluated, outcomeOf } from "./evaluator";
import { describeAssertion, type Failure } from "./words";

/** A response to check by assertions. */
interface Observed extends Omit<Subject, "body"> {
  /** Called only if an assertion needs the body. */
  body(): Promise<{ bytes: Uint8Array; isTruncated: boolean } | Fault>;
}

/**
 * Checks a response by assertions. Unless one of them is about the status, it must also be 2xx.
 * Expensive evaluations run in a thread, so that no request waits for them. Everything ends when
 * the signal aborts. With `steps`, each evaluated assertion is recorded.
 */
export async function checkAssertions(
  assertions: readonly Assertion[],
  observed: Observed,
  {
    evaluator,
    signal,
    steps,
  }: { evaluator: AssertionEvaluator; signal: AbortSignal; steps?: StepRecorder | undefined },
): Promise<Evaluated> {
  const { status } = observed;
  if (failsByStatus(assertions, status)) {
    return { outcome: "failed", ...statusFailure(status) };
  }
  // Assertions before the first one on the body, or with a regular expression, are evaluated first: if one
  // fails, the body is not read.
  const firstHeavy = assertions.findIndex((each) => usesBody(each) || each.op === "matches");
  const light = firstHeavy < 0 ? assertions : assertions.slice(0, firstHeavy);
  const heavy = assertions.slice(light.length);
  const { body: readBody, ...parts } = observed;
  const subject: Subject = parts;
  for (const part of [light, heavy]) {
    if (part.length === 0) continue;
    if (part.some(usesBody)) {
      subject.body = toBody(await readBody(), observed.headers.get("content-type") ?? "");
    }
    const evaluated = evaluator.reserveInline(evaluationCostNs(part, subject))
      ? evaluateInline(part, subject)
      : await evaluator.evaluate({ assertions: part, subject, signal, owner: assertions });
    if (steps) recordAssertions(steps, part, evaluated);
    if (evaluated.outcome === "unknown") return evaluated;
    if (evaluated.outcome === "failed") {
      const { assertion: _, ...failure } = evaluated;
      return failure;
    }
  }
  return { outcome: "ok" };
}

/** Returns true if a status that no assertion is about is not 2xx, whatever the body says. */
function failsByStatus(assertions: readonly Assertion[], status: number): boolean {
  const isAsserted = assertions.some(({ source }) => source === "status");
  return !isAsserted && (status < 200 || status > 299);
}

/** Returns true if assertions need the body of a response with this status. */
export function needBody(assertions: readonly Assertion[], status: number): boolean {
  return assertions.some(usesBody) && !failsByStatus(assertions, status);
}

/** Returns true if an assertion is about the body. */
function usesBody({ source }: Assertion): boolean {
  return source === "body" || source === "json";
}

function toBody(
  body: { bytes: Uint8Array; isTruncated: boolean } | Fault,
  contentType: string,
): Subject["body"] {
  if (body instanceof Fault) return { problem: body.message };
  return { ...body, charset: charsetOf(body.bytes, contentType) };
}

function evaluateInline(assertions: readonly Assertion[], subject: Subject): Evaluated {
  const progress = evaluate(assertions, subject);
  return outcomeOf("failure" in progress ? progress.failure : null);
}

/*
 * Maximum time of each step per character, in nanoseconds, measured with the worst inputs: bytes
 * that are not UTF-8, nested arrays, texts that differ from the expected one in the middle, lists
 * of digits, objects of many fields.
 */
const DECODE_NS = 15;
/** Of other character sets than UTF-8: measured with EUC-JP and ISO-2022-JP. */
const DECODE_LEGACY_NS = 50;
const PARSE_JSON_NS = 110;
const SEARCH_LIST_NS = 80;
const SEARCH_TEXT_NS = 0.5;
const COMPARE_NS = 2;
const LENGTH_NS = 250;

/**
 * Upper bound of the time that an evaluation takes, in nanoseconds. Infinite for regular expressions: their
 * time depends on how many states they reach.
 */
function evaluationCostNs(assertions: readonly Assertion[], subject: Subject): number {
  const body = subject.body && "bytes" in subject.body ? subject.body : undefined;
  const bodyLength = body?.bytes.length ?? 0;
  let cost = 0;
  if (assertions.some(usesBody)) {
    const isUtf8 = body?.charset === undefined || body.charset === "UTF-8";
    cost += (isUtf8 ? DECODE_NS : DECODE_LEGACY_NS) * bodyLength;
  }
  if (assertions.some(({ source }) => source === "json")) cost += PARSE_JSON_NS * bodyLength;
  for (const assertion of assertions) {
    if (assertion.op === "matches") return Number.POSITIVE_INFINITY;
    cost += lengthOf(assertion, subject, bodyLength) * costPerCharacterNs(assertion);
  }
  return cost;
}

function lengthOf(assertion: Assertion, { headers }: Subject, bodyLength: number): number {
  if (usesBody(assertion)) return bodyLength;
  if (assertion.source !== "header") return 0;
  return headers.get(assertion.property.toLowerCase())?.length ?? 0;
}

function costPerCharacterNs({ source, op, value }: Assertion): number {
  if (isLengthOp(op)) return LENGTH_NS;
  if (Array.isArray(value)) return COMPARE_NS * value.length;
  if (op !== "contains" && op !== "not_contains") return COMPARE_NS;
  const search = SEARCH_TEXT_NS * String(value).length;
  return source === "json" ? SEARCH_LIST_NS + search : COMPARE_NS + search;
}

/** Records assertions that were evaluated together, up to the one that failed. */
function recordAssertions(
  steps: StepRecorder,
  assertions: readonly Assertion[],
  evaluated: Evaluated,
): void {
  const failed = evaluated.outcome === "failed" ? evaluated : undefined;
  // Without an assertion that failed, none was evaluated to its end.
  if (evaluated.outcome !== "ok" && !failed?.assertion) return;
  for (const assertion of assertions) {
    if (failed && Bun.deepEquals(assertion, failed.assertion)) {
      return steps.add("assertion", false, failed.message);
    }
    steps.add("assertion", true, describeAssertion(assertion));
  }
}

/**
 * Returns the failure of a response that is not 2xx, for assertions without one about the status.
 */
function statusFailure(status: number): Failure {
  const message = `The status is ${status}; it should be 2xx.`;
  return { message, publicMessage: `The status is ${status}.` };
}
