import { type FieldError, pointer } from "../../../errors";
import { parseJsonPath } from "./json-path";
import type { Assertion } from "./model";
import { patternProblem } from "./pattern";

/** Returns errors of assertions that the schema cannot express; `at` is the pointer of the list. */
export function validateAssertions(
  assertions: readonly Assertion[],
  isHttps: boolean,
  at: string,
): FieldError[] {
  return assertions.flatMap((assertion, index) =>
    faultsOf(assertion, isHttps).map(([field, detail]) => ({
      pointer: pointer(at, index, field),
      detail,
    })),
  );
}

// A token of RFC 9110.
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

type Fault = [field: "source" | "property" | "value", detail: string];

function faultsOf(assertion: Assertion, isHttps: boolean): Fault[] {
  const faults: Fault[] = [];
  if (assertion.source === "certificate_days" && !isHttps) {
    faults.push(["source", "needs a URL with https://"]);
  }
  if (assertion.source === "json" && !parseJsonPath(assertion.property)) {
    faults.push([
      "property",
      "must be a JSONPath to one value, with names and indexes only, such as $.checks[0].status",
    ]);
  }
  if (assertion.source === "header" && !HEADER_NAME.test(assertion.property)) {
    faults.push(["property", "must be the name of a header"]);
  }
  const problem = valueProblem(assertion);
  if (problem) faults.push(["value", problem]);
  return faults;
}

function valueProblem({ op, value }: Assertion): string | undefined {
  switch (op) {
    case "exists":
      return value === undefined || typeof value === "boolean"
        ? undefined
        : "must be true or false";
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return typeof value === "number" ? undefined : "must be a number";
    case "contains":
    case "not_contains":
      return typeof value === "string" && value !== "" ? undefined : "must be text";
    case "matches": {
      if (typeof value !== "string" || value === "") return "must be a regular expression";
      return patternProblem(value);
    }
    default:
      return value === undefined ? "is required" : undefined;
  }
}
