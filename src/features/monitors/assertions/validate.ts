import { type FieldError, pointer } from "../../../base/errors";
import { parseJsonPath } from "./json-path";
import { type Assertion, isLengthOp } from "./model";
import { patternProblem } from "./pattern";
import { parseStatusRange } from "./status-range";

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

type AssertionFault = [field: "source" | "property" | "value", detail: string];

function faultsOf(assertion: Assertion, isHttps: boolean): AssertionFault[] {
  const faults: AssertionFault[] = [];
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

function valueProblem({ source, op, value }: Assertion): string | undefined {
  if (isLengthOp(op)) {
    return Number.isInteger(value) && Number(value) >= 0
      ? undefined
      : "must be a whole number of at least 0";
  }
  switch (op) {
    case "in":
      if (!Array.isArray(value)) return "must be a list";
      return source !== "status" || value.every((entry) => parseStatusRange(String(entry)))
        ? undefined
        : "must be a list of statuses and ranges, such as 200-299";
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
      if (value === undefined) return "is required";
      return Array.isArray(value) ? "must be a list only for in" : undefined;
  }
}
