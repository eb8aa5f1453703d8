import { type TObject, Type } from "@sinclair/typebox";
import { LineText } from "../../../domain/texts";
import { ByTag, Nullable, OneOf, Text } from "../../../kernel/schema";

const NUMBER_OPS = ["eq", "ne", "lt", "lte", "gt", "gte"] as const;
const TEXT_OPS = ["eq", "ne", "contains", "not_contains", "matches"] as const;
const ALL_OPS = [...NUMBER_OPS, "contains", "not_contains", "matches", "exists"] as const;

type NumberOp = (typeof NUMBER_OPS)[number];
type TextOp = (typeof TEXT_OPS)[number];
export type Op = (typeof ALL_OPS)[number];

/**
 * Expected value. For `exists`: true (the default) if the value must exist, false if it must not.
 */
export type Expected = string | number | boolean | null;

/** A condition on a response. */
export type Assertion =
  | { source: "status" | "latency" | "certificate_days"; op: NumberOp; value: number }
  | { source: "body"; op: TextOp; value: string }
  | { source: "header" | "json"; property: string; op: Op; value?: Expected };

const STRICT = { additionalProperties: false };

const ExpectedText = Text({ maxLength: 1_000 });

function ofNumber(source: string, op: string, range: { minimum: number; maximum: number }) {
  return Type.Object(
    {
      source: OneOf([source], { description: op }),
      op: OneOf(NUMBER_OPS),
      value: Type.Integer(range),
    },
    STRICT,
  );
}

const SHAPES: Record<Assertion["source"], TObject> = {
  status: ofNumber("status", "Status code of the response.", { minimum: 100, maximum: 599 }),
  latency: ofNumber(
    "latency",
    "Response time from the first step to the last byte, including redirects, in ms.",
    {
      minimum: 0,
      maximum: 600_000,
    },
  ),
  certificate_days: ofNumber(
    "certificate_days",
    "Whole days until the first certificate, including those of redirects, expires.",
    { minimum: -36_500, maximum: 36_500 },
  ),
  header: Type.Object(
    {
      source: OneOf(["header"], {
        description: "Header of the response; several with one name are joined by a comma.",
      }),
      property: LineText({ minLength: 1, maxLength: 255, description: "Name of the header." }),
      op: OneOf(ALL_OPS),
      value: Type.Optional(Type.Union([ExpectedText, Type.Number(), Type.Boolean()])),
    },
    STRICT,
  ),
  body: Type.Object(
    {
      source: OneOf(["body"], { description: "First 256 KiB of the body, as UTF-8." }),
      op: OneOf(TEXT_OPS),
      value: ExpectedText,
    },
    STRICT,
  ),
  json: Type.Object(
    {
      source: OneOf(["json"], { description: "Value in the body, which must be JSON." }),
      property: LineText({
        minLength: 1,
        maxLength: 255,
        description:
          "JSONPath (RFC 9535) to one value, with names and indexes only, such as `$.checks[0].status`.",
        examples: ["$.status"],
      }),
      op: OneOf(ALL_OPS),
      value: Type.Optional(Nullable(Type.Union([ExpectedText, Type.Number(), Type.Boolean()]))),
    },
    STRICT,
  ),
};

export const AssertionBody = ByTag<Assertion>("source", SHAPES, {
  title: "Assertion",
  description:
    "`eq` and `ne` compare numbers as numbers and all else as text; `lt`, `lte`, `gt` and `gte` compare numbers. `matches` searches the first 65,536 characters with a regular expression in RE2 syntax. A missing value fails every `op` except `ne`, `not_contains` and `exists: false`.",
});
