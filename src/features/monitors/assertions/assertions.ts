import { type TObject, type TProperties, type TSchema, type TUnion, Type } from "@sinclair/typebox";
import { type FieldError, pointer } from "../../../base/errors";
import { ByTag, OneOf, Text } from "../../../base/schema";
import { capitalised } from "../../../base/text";
import { LineText } from "../../../base/texts";
import { parseJsonPath } from "./json-path";
import { patternProblem } from "./pattern";

const NUMBER_OPS = ["eq", "ne", "lt", "lte", "gt", "gte"] as const;
const TEXT_OPS = ["eq", "ne", "contains", "not_contains", "matches"] as const;
const STATUS_OPS = [...NUMBER_OPS, "in"] as const;
const HEADER_OPS = [...STATUS_OPS, "contains", "not_contains", "matches", "exists"] as const;

/** Comparison of a length, by op. */
export const LENGTH_OPS = {
  length_eq: "eq",
  length_lt: "lt",
  length_lte: "lte",
  length_gt: "gt",
  length_gte: "gte",
} as const;

type LengthOp = keyof typeof LENGTH_OPS;

const JSON_OPS = [...HEADER_OPS, ...(Object.keys(LENGTH_OPS) as LengthOp[])];

type NumberOp = (typeof NUMBER_OPS)[number];
type TextOp = (typeof TEXT_OPS)[number];
export type Op = (typeof HEADER_OPS)[number] | LengthOp;

type Scalar = string | number | boolean | null;

/**
 * Expected value. For `exists`: true (the default) if the value must exist, false if it must not. For `in`:
 * a list of values.
 */
export type Expected = Scalar | readonly Scalar[];

/** Maximum number of values of an `in`. */
const VALUES_MAX = 50;

/** A condition on a response. */
export type Assertion =
  | { source: "latency" | "certificate_days"; op: NumberOp; value: number }
  | {
      source: "status";
      op: (typeof STATUS_OPS)[number];
      value: number | readonly (number | string)[];
    }
  | { source: "body"; op: TextOp; value: string }
  | { source: "header"; property: string; op: (typeof HEADER_OPS)[number]; value?: Expected }
  | { source: "json"; property: string; op: Op; value?: Expected };

export function isLengthOp(op: Op): op is LengthOp {
  return Object.hasOwn(LENGTH_OPS, op);
}

/** Returns the shape of conditions on a source. Names are for generated clients. */
function shapeOf(source: Assertion["source"], description: string, fields: TProperties): TObject {
  const title = `${source.split("_").map(capitalised).join("")}Assertion`;
  return Type.Object(
    { source: OneOf([source], { description, title: `${title}Source` }), ...fields },
    { additionalProperties: false, title },
  );
}

const ExpectedText = Text({ maxLength: 1_000 });

const Status = Type.Integer({ minimum: 100, maximum: 599 });

function listOf(item: TSchema) {
  return Type.Array(item, { minItems: 1, maxItems: VALUES_MAX });
}

function ofNumber(range: { minimum: number; maximum: number }): TProperties {
  return { op: OneOf(NUMBER_OPS), value: Type.Integer(range) };
}

/** Returns the schema of an expected value, which is a list of such values for `in`. */
function valueOf(scalar: TUnion) {
  return Type.Union([...scalar.anyOf, listOf(scalar)]);
}

const SHAPES: Record<Assertion["source"], TObject> = {
  status: shapeOf("status", "Status code of the response.", {
    op: OneOf(STATUS_OPS),
    value: Type.Union([Status, listOf(Type.Union([Status, Text({ maxLength: 7 })]))], {
      description: "For `in` a list, in which a range is a text.",
      examples: [200, ["200-299", 304]],
    }),
  }),
  latency: shapeOf(
    "latency",
    "Response time from the first step to the last byte that is read, including redirects, in ms.",
    ofNumber({ minimum: 0, maximum: 600_000 }),
  ),
  certificate_days: shapeOf(
    "certificate_days",
    "Whole days until the first certificate, including those of redirects, expires.",
    ofNumber({ minimum: -36_500, maximum: 36_500 }),
  ),
  header: shapeOf(
    "header",
    "Header of the response; several with one name are joined by a comma.",
    {
      property: LineText({ minLength: 1, maxLength: 255, description: "Name of the header." }),
      op: OneOf(HEADER_OPS),
      value: Type.Optional(valueOf(Type.Union([ExpectedText, Type.Number(), Type.Boolean()]))),
    },
  ),
  body: shapeOf("body", "Body up to `max_body_kb`, in the character set that it declares.", {
    op: OneOf(TEXT_OPS),
    value: ExpectedText,
  }),
  json: shapeOf("json", "Value in the body, which must be JSON.", {
    property: LineText({
      minLength: 1,
      maxLength: 255,
      description:
        "JSONPath (RFC 9535) to one value, with names and indexes only, such as `$.checks[0].status`.",
      examples: ["$.status"],
    }),
    op: OneOf(JSON_OPS),
    value: Type.Optional(
      valueOf(Type.Union([ExpectedText, Type.Number(), Type.Boolean(), Type.Null()])),
    ),
  }),
};

export const AssertionBody = ByTag<Assertion>("source", SHAPES, {
  title: "Assertion",
  description:
    "`eq` and `ne` compare numbers as numbers and all else as text; `lt`, `lte`, `gt` and `gte` compare numbers. `in` compares with each of up to 50 values as `eq` does. `length_eq` and so on compare the number of entries of a list, of fields of an object or of characters of a text. `matches` searches the first 65,536 characters with a regular expression in RE2 syntax. A condition that depends on what was not read fails. A missing value fails every `op` except `ne`, `not_contains` and `exists: false`.",
});

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

/** Statuses from one to another, both included. */
interface StatusRange {
  from: number;
  to: number;
}

const RANGE = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

/** Parses a status or a range of them, such as `200-299`; undefined for other text. */
export function parseStatusRange(text: string): StatusRange | undefined {
  const [, from, to = from] = RANGE.exec(text) ?? [];
  if (from === undefined || Number(from) > Number(to)) return undefined;
  return { from: Number(from), to: Number(to) };
}
