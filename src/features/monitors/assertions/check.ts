import { Fault } from "../../../egress";
import { evaluationCostNs } from "./cost";
import { evaluate, type Subject } from "./evaluate";
import type { AssertionEvaluator, Evaluated } from "./evaluator";
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
  // The body is neither decompressed nor decoded if an assertion before the first about it fails.
  const light = assertions.findIndex(({ source, op }) => usesBody(source) || op === "matches");
  const first = light < 0 ? assertions : assertions.slice(0, light);
  const rest = light < 0 ? [] : assertions.slice(light);
  const { body: readBody, ...parts } = observed;
  const subject: Subject = parts;
  for (const part of [first, rest]) {
    if (part.some(({ source }) => usesBody(source))) subject.body = toBody(await readBody());
    const evaluated = evaluator.reserveInline(evaluationCostNs(part, subject))
      ? toEvaluated(part, subject)
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

function toEvaluated(assertions: readonly Assertion[], subject: Subject): Evaluated {
  const progress = evaluate(assertions, subject);
  return "failure" in progress && progress.failure
    ? { outcome: "failed", ...progress.failure }
    : { outcome: "ok" };
}
