import { NOTHING } from "./json-path";
import type { Expected, Op } from "./model";
import { parsePattern, type ReadPattern } from "./pattern";

/**
 * Returns true if the value found is as expected. `found` is a scalar, a JSON value, or `NOTHING`.
 */
export function holds(
  found: unknown,
  op: Op,
  expected: Expected | undefined,
  readPattern: ReadPattern = parsePattern,
): boolean {
  switch (op) {
    case "exists":
      return (found !== NOTHING) === (expected ?? true);
    case "eq":
      return found !== NOTHING && isSame(found, expected);
    case "ne":
      return found === NOTHING || !isSame(found, expected);
    case "contains":
      return found !== NOTHING && contains(found, expected);
    case "not_contains":
      return found === NOTHING || !contains(found, expected);
    case "matches": {
      const pattern = readPattern(String(expected));
      return isScalar(found) && typeof pattern !== "string" && pattern(String(found));
    }
    default:
      return compares(numberIn(found), op, numberIn(expected));
  }
}

function compares(found: number, op: "lt" | "lte" | "gt" | "gte", expected: number): boolean {
  switch (op) {
    case "lt":
      return found < expected;
    case "lte":
      return found <= expected;
    case "gt":
      return found > expected;
    case "gte":
      return found >= expected;
  }
}

/**
 * Forms hold text, so `"5"` is also the number 5 and `"true"` the value true. Two texts are the same only
 * if they are: `1.10` is another version than `1.1`.
 */
function isSame(found: unknown, expected: unknown): boolean {
  if (!isScalar(found)) return false;
  if (typeof found === "number" || typeof expected === "number") {
    return numberIn(found) === numberIn(expected);
  }
  return String(found) === String(expected);
}

/** Of a text: whether it holds the other; of a list: whether one of its values is it. */
function contains(found: unknown, expected: unknown): boolean {
  if (Array.isArray(found)) return found.some((value) => isSame(value, expected));
  return isScalar(found) && String(found).includes(String(expected));
}

function isScalar(value: unknown): boolean {
  return value !== NOTHING && (typeof value !== "object" || value === null);
}

/** No two parts of it can match the same digits: the time is in proportion to the length. */
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** NaN, which compares with nothing, where there is none. */
function numberIn(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : Number.NaN;
}
