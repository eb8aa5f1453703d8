import { Fault } from "../../../egress";
import { evaluationCostNs } from "./cost";
import { evaluate, type Subject } from "./evaluate";
import { type AssertionEvaluator, type Evaluated, outcomeOf } from "./evaluator";
import type { Assertion } from "./model";
import { statusFailure } from "./words";

/** A response that assertions are about. */
export interface Observed extends Omit<Subject, "body"> {
  /** Called only if an assertion needs the body. */
  body(): Promise<{ bytes: Uint8Array; isCut: boolean } | Fault>;
}

/**
 * Checks a response by assertions. Unless one of them is about the status, it must also be 2xx. Expensive
 * evaluations run in a thread, so that no request waits for them. All of it ends when the signal aborts.
 */
export async function checkAssertions(
  assertions: readonly Assertion[],
  observed: Observed,
  evaluator: AssertionEvaluator,
  signal: AbortSignal,
): Promise<Evaluated> {
  const { status } = observed;
  const isStatusAsserted = assertions.some(({ source }) => source === "status");
  if (!isStatusAsserted && (status < 200 || status > 299)) {
    return { outcome: "failed", ...statusFailure(status) };
  }
  // Assertions before the first one on the body, or with a regular expression, are evaluated first: if one
  // fails, the body is not read.
  const firstHeavy = assertions.findIndex(({ source, op }) => usesBody(source) || op === "matches");
  const light = firstHeavy < 0 ? assertions : assertions.slice(0, firstHeavy);
  const heavy = assertions.slice(light.length);
  const { body: readBody, ...parts } = observed;
  const subject: Subject = parts;
  for (const part of [light, heavy]) {
    if (part.some(({ source }) => usesBody(source))) subject.body = toBody(await readBody());
    const evaluated = evaluator.reserveInline(evaluationCostNs(part, subject))
      ? evaluateInline(part, subject)
      : await evaluator.evaluate({ assertions: part, subject, signal, owner: assertions });
    if (evaluated.outcome !== "ok") return evaluated;
  }
  return { outcome: "ok" };
}

function usesBody(source: Assertion["source"]): boolean {
  return source === "body" || source === "json";
}

function toBody(body: Exclude<Subject["body"], undefined> | Fault): Subject["body"] {
  return body instanceof Fault ? { problem: body.message } : body;
}

function evaluateInline(assertions: readonly Assertion[], subject: Subject): Evaluated {
  const progress = evaluate(assertions, subject);
  return outcomeOf("failure" in progress ? progress.failure : null);
}
