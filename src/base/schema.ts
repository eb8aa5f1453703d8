/*
 * Building blocks of the schemas of the API. TypeBox does not check `enum` and counts UTF-16 units, where
 * JSON Schema and the API count code points. Therefore each kind has its own check, which returns the error.
 */
import { Kind, type TObject, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { codePointLength, hasUnsafeCharacters } from "./text";
import { parseDay, parseInstant } from "./time";

type SchemaCheck = (schema: never, value: unknown) => string | undefined;

const checks = new Map<string, SchemaCheck>();

/** Registers a kind of schema with the function that returns the error of a value. */
export function defineKind<Schema>(
  kind: string,
  describeViolation: (schema: Schema, value: unknown) => string | undefined,
): void {
  checks.set(kind, describeViolation as SchemaCheck);
  TypeRegistry.Set<Schema>(kind, (schema, value) => describeViolation(schema, value) === undefined);
}

/**
 * Returns how a value violates a schema of this module; undefined for a valid value or another
 * module's schema.
 */
export function describeViolation(schema: TSchema, value: unknown): string | undefined {
  return checks.get(schema[Kind])?.(schema as never, value);
}

/** Returns true for a schema of a kind that this file defines. */
export function isOwnKind(schema: TSchema): boolean {
  return checks.has(schema[Kind]);
}

// Symbols are not published with the schema. Unlike properties that are not enumerable, they are kept
// when TypeBox copies a schema, as `Type.Optional` does.
const IsName = Symbol("name");
const IsTrimmed = Symbol("trimmed");
const FurtherCheck = Symbol("check");
const Mismatch = Symbol("mismatch");

export interface TextOptions {
  minLength?: number;
  /** No limit if omitted. */
  maxLength?: number;
  /** True for a name on one line: no control characters, separators of lines or bidirectional overrides. */
  isName?: boolean;
  /** True for a text without white space at its ends. */
  isTrimmed?: boolean;
  /** Returns the error of a text that is otherwise valid; undefined for none. */
  check?: (value: string) => string | undefined;
  pattern?: string;
  /** Error of a text that does not match the pattern; the pattern itself if omitted. */
  mismatch?: string;
  description?: string;
  examples?: string[];
}

interface TextSchema extends TextOptions {
  [IsName]: boolean;
  [IsTrimmed]: boolean;
  [FurtherCheck]: TextOptions["check"];
  [Mismatch]: string | undefined;
}

defineKind("AllclearText", (schema: TextSchema, value) => {
  if (typeof value !== "string") return "must be text";
  const length = codePointLength(value);
  const { minLength = 0, maxLength = Infinity } = schema;
  if (length < minLength) return minLength === 1 ? "is empty" : `is shorter than ${minLength}`;
  if (length > maxLength) return `is ${length} characters long; ${maxLength} is the most`;
  if (value.includes("\0")) return "holds a NUL character";
  if (!value.isWellFormed()) return "holds half of a surrogate pair";
  if (schema[IsName] && hasUnsafeCharacters(value)) {
    return /[\u2028\u2029]/.test(value)
      ? "holds separators of lines"
      : "holds control characters or bidirectional overrides";
  }
  if (schema[IsName] && schema.minLength && value.trim() === "") return "is blank";
  if (schema[IsTrimmed] && value.trim() !== value) return "begins or ends with white space";
  const problem = schema[FurtherCheck]?.(value);
  if (problem !== undefined) return problem;
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) {
    return schema[Mismatch] ?? `must match ${schema.pattern}`;
  }
  return undefined;
});

/** Schema of a text whose length counts in code points. */
export function Text(options: TextOptions) {
  const { isName = false, isTrimmed = false, check, mismatch, ...shown } = options;
  return Type.Unsafe<string>({
    [Kind]: "AllclearText",
    [IsName]: isName,
    [IsTrimmed]: isTrimmed,
    [FurtherCheck]: check,
    [Mismatch]: mismatch,
    type: "string",
    ...shown,
  });
}

defineKind("AllclearOneOf", (schema: { enum: readonly string[] }, value) =>
  schema.enum.includes(value as string) ? undefined : `must be one of ${schema.enum.join(", ")}`,
);

/** Schema of one of several texts. */
export function OneOf<const T extends string>(
  values: readonly T[],
  options: { description?: string; examples?: T[]; title?: string } = {},
) {
  return Type.Unsafe<T>({
    [Kind]: "AllclearOneOf",
    type: "string",
    enum: [...values],
    ...options,
  });
}

// Symbols for the same reason as `IsName`.
const Tag = Symbol("tag");
const Shapes = Symbol("shapes");

interface ByTagSchema {
  [Tag]: string;
  [Shapes]: Readonly<Record<string, TObject>>;
}

defineKind("AllclearByTag", (schema: ByTagSchema, value) =>
  Check(shapeFor(schema, value), value) ? undefined : "is not valid",
);

/**
 * Schema of an object of one of several shapes, chosen by the text in its field `tag`. Unlike those of a
 * union, its errors are the errors of the chosen shape: see `shapeOf`.
 */
export function ByTag<T>(
  tag: string,
  shapes: Readonly<Record<string, TObject>>,
  options: { title?: string; description?: string } = {},
) {
  return Type.Unsafe<T>({
    [Kind]: "AllclearByTag",
    [Tag]: tag,
    [Shapes]: shapes,
    // Without `type: "object"`, which each shape has.
    oneOf: Object.values(shapes),
    ...options,
  });
}

/** Returns the shape that a value of a `ByTag` schema must have; undefined for any other schema. */
export function shapeOf(schema: TSchema, value: unknown): TSchema | undefined {
  return schema[Kind] === "AllclearByTag"
    ? shapeFor(schema as unknown as ByTagSchema, value)
    : undefined;
}

function shapeFor({ [Tag]: tag, [Shapes]: shapes }: ByTagSchema, value: unknown): TSchema {
  const named: unknown =
    typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)[tag]
      : undefined;
  const variant =
    typeof named === "string" && Object.hasOwn(shapes, named) ? shapes[named] : undefined;
  return variant ?? Type.Object({ [tag]: OneOf(Object.keys(shapes)) });
}

defineKind("AllclearDay", (_schema: unknown, value) => {
  const ms = typeof value === "string" ? parseDay(value) : undefined;
  if (ms === undefined) return "must be a day of the calendar, YYYY-MM-DD";
  return yearProblem(ms);
});

/** Schema of a calendar day, `YYYY-MM-DD`. */
export function Day(options: { description?: string } = {}) {
  return Type.Unsafe<string>({ [Kind]: "AllclearDay", type: "string", format: "date", ...options });
}

defineKind("AllclearInstant", (_schema: unknown, value) => {
  if (typeof value !== "string") return "must be text";
  const ms = parseInstant(value);
  if (ms === undefined) return "must be an instant with its zone, such as 2026-01-01T12:00:00Z";
  return yearProblem(ms);
});

const YEAR_10000 = Date.UTC(10_000, 0);

/** Returns the error of the year of a time in unix ms; undefined for a valid year. */
function yearProblem(ms: number): string | undefined {
  return ms >= 0 && ms < YEAR_10000
    ? undefined
    : "has a year out of range; it must lie in the years 1970 to 9999";
}

/** Schema of an instant in a request: ISO 8601 with a zone, in the years 1970 to 9999. */
export function InstantText(options: { description?: string } = {}) {
  return Type.Unsafe<string>({
    [Kind]: "AllclearInstant",
    type: "string",
    format: "date-time",
    ...options,
  });
}

/** Schema of a value or null. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** Schema of a time in answers: ISO 8601 in UTC with milliseconds. */
export const Instant = Type.Unsafe<string>(
  Type.String({ description: "ISO 8601, UTC.", examples: ["2026-01-01T12:00:00.000Z"] }),
);

interface QueryIntegerOptions {
  minimum: number;
  maximum: number;
  default?: number;
  description?: string;
}

defineKind("AllclearQueryInteger", (schema: QueryIntegerOptions, value) => {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  const { minimum, maximum } = schema;
  return number >= minimum && number <= maximum
    ? undefined
    : `must be a whole number from ${minimum} to ${maximum}`;
});

/** Schema of a whole number in a query. The handler gets it as text. */
export function QueryInteger(options: QueryIntegerOptions) {
  return Type.Unsafe<string>({ [Kind]: "AllclearQueryInteger", type: "integer", ...options });
}
