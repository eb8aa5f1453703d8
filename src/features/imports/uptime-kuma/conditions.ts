import { parseJson } from "../../../base/text";
import type { Assertion } from "../../monitors/assertions/assertions";
import { jsonPathOf } from "./json-query";
import type { Notes } from "./notes";
import { type KumaValue, text, textOf } from "./values";

/** A condition that compares a variable with a value. */
interface Condition {
  variable: string;
  operator: string;
  value: string;
}

const LEFT_OUT = "These conditions have no counterpart, so the check does not look at them.";

/**
 * Reads conditions that must all hold. Undefined for groups of conditions and for alternatives, which are one whole.
 */
function readConditions(value: KumaValue): Condition[] | undefined {
  const entries = parseJson(text(value));
  if (!Array.isArray(entries)) return [];
  const conditions = (entries as unknown[]).map((entry, index) => readCondition(entry, index));
  return conditions.every((condition) => condition !== undefined) ? conditions : undefined;
}

function readCondition(entry: unknown, index: number): Condition | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { type, andOr, variable, operator, value } = entry as Record<string, unknown>;
  // The first has nothing before it to be combined with.
  if (type !== "expression" || (andOr === "or" && index > 0)) return undefined;
  return { variable: textOf(variable), operator: textOf(operator), value: textOf(value) };
}

/** Returns true if conditions are set. */
export function hasConditions(value: KumaValue): boolean {
  const entries = parseJson(text(value));
  return Array.isArray(entries) && entries.length > 0;
}

/** Returns the text that the only condition demands; undefined, with a note, for other conditions. */
export function expectedText(value: KumaValue, variable: string, notes: Notes): string | undefined {
  if (!hasConditions(value)) return undefined;
  const conditions = readConditions(value) ?? [];
  const [first] = conditions;
  const isPlain = conditions.length === 1 && first?.operator === "equals" && first.value !== "";
  if (isPlain && first.variable === variable) return first.value;
  notes.drop("conditions", LEFT_OUT);
  return undefined;
}

/** Returns the assertions on a message that conditions become. Others are left out with a note. */
export function messageAssertions(
  value: KumaValue,
  jsonPath: KumaValue,
  notes: Notes,
): Assertion[] {
  const conditions = readConditions(value);
  const assertions = (conditions ?? []).map((one) => assertionOf(one, text(jsonPath)));
  if (!conditions || assertions.includes(undefined)) notes.drop("conditions", LEFT_OUT);
  return assertions.filter((assertion) => assertion !== undefined);
}

const TEXT_OPS = {
  equals: "eq",
  not_equals: "ne",
  contains: "contains",
  not_contains: "not_contains",
} as const;

const CONDITION_NUMBER_OPS = {
  num_equals: "eq",
  num_not_equals: "ne",
  lt: "lt",
  lte: "lte",
  gt: "gt",
  gte: "gte",
} as const;

function assertionOf(
  { variable, operator, value }: Condition,
  jsonPath: string,
): Assertion | undefined {
  const property = jsonPathOf(jsonPath);
  const pattern = patternOf(operator, value);
  const op = lookUp(TEXT_OPS, operator);
  if (variable === "message") {
    if (pattern !== undefined) return { source: "body", op: "matches", value: pattern };
    return op && value !== "" ? { source: "body", op, value } : undefined;
  }
  if (variable !== "json_value" || property === undefined) return undefined;
  const json = { source: "json", property } as const;
  if (pattern !== undefined) return { ...json, op: "matches", value: pattern };
  if (op) return op === "eq" || value !== "" ? { ...json, op, value } : undefined;
  const numberOp = lookUp(CONDITION_NUMBER_OPS, operator);
  const expected = value.trim() === "" ? NaN : Number(value);
  return numberOp && Number.isFinite(expected)
    ? { ...json, op: numberOp, value: expected }
    : undefined;
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Longest text of which a regular expression is made, in characters. Those of monitors are limited. */
const PATTERN_MAX = 80;

/** Returns the regular expression of a condition on the beginning or the end of a text. */
function patternOf(operator: string, value: string): string | undefined {
  if (value.length > PATTERN_MAX) return undefined;
  const literal = value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (operator === "starts_with") return `\\A${literal}`;
  return operator === "ends_with" ? `${literal}\\z` : undefined;
}
