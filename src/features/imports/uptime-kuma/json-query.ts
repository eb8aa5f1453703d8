import type { Assertion } from "../../monitors/assertions/assertions";
import { cutText } from "../texts";
import type { Notes } from "./notes";

/** Longest expression that is repeated in a reason, in characters. */
const SHOWN_MAX = 200;

/** Words of JSONata that are no names. */
const WORDS: ReadonlySet<string> = new Set(["and", "or", "in", "true", "false", "null"]);

/** A name, bare or in backquotes, or an index, with the point before a further name. */
const STEP = /\.?(?:([\p{L}_][\p{L}\p{N}_]*)|`([^`]+)`)|\[(0|-?[1-9]\d{0,14})\]/uy;

/**
 * Returns the JSONPath of a JSONata expression that only names fields and indexes: `$`, `a.b[0]`, `$.a`. Undefined
 * for every other expression.
 */
export function jsonPathOf(expression: string): string | undefined {
  const trimmed = expression.trim();
  if (trimmed === "" || trimmed === "$") return "$";
  const hasRoot = /^\$[.[]/.test(trimmed);
  const rest = hasRoot ? trimmed.slice(1) : trimmed;
  const step = new RegExp(STEP);
  let path = "$";
  while (step.lastIndex < rest.length) {
    const isFirst = step.lastIndex === 0;
    const hasPoint = rest[step.lastIndex] === ".";
    const [found, bare, quoted, index] = step.exec(rest) ?? [];
    if (found === undefined) return undefined;
    if (index !== undefined) {
      // Without a document before it, this is a list.
      if (isFirst && !hasRoot) return undefined;
      path += `[${index}]`;
      continue;
    }
    // Names after the first have a point before them, and the first has one after `$` alone.
    if (hasPoint !== (!isFirst || hasRoot)) return undefined;
    if (bare !== undefined && WORDS.has(bare)) return undefined;
    path += bare === undefined ? `['${escaped(quoted ?? "")}']` : nameOf(bare);
  }
  return path;
}

/** Returns the step of a bare name, which JSONPath has only without letters such as combining ones. */
function nameOf(name: string): string {
  return /^[A-Za-z_\u{80}-\u{10ffff}][\w\u{80}-\u{10ffff}]*$/u.test(name)
    ? `.${name}`
    : `['${escaped(name)}']`;
}

function escaped(name: string): string {
  return name.replace(/['\\]/g, "\\$&");
}

const NUMBER_OPS = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte" } as const;

/** Returns the assertions on a JSON document; none, and a reason, if they cannot be expressed. */
export function jsonAssertions(
  { path, operator, expected }: { path: string; operator: string; expected: string },
  notes: Notes,
): Assertion[] {
  const property = jsonPathOf(path);
  if (property === undefined) {
    notes.disable(
      `Its JSONata expression has no counterpart: ${cutText(path, SHOWN_MAX)}. Give it an assertion, and resume it.`,
    );
    return [];
  }
  const json = { source: "json", property } as const;
  switch (operator) {
    case "":
    case "==":
      return [{ ...json, op: "eq", value: expected }];
    case "!=":
      // A missing value fails in Uptime Kuma.
      return [
        { ...json, op: "exists", value: true },
        { ...json, op: "ne", value: expected },
      ];
    case "contains":
      if (expected === "") return [{ ...json, op: "exists", value: true }];
      return [{ ...json, op: "contains", value: expected }];
    case ">":
    case ">=":
    case "<":
    case "<=": {
      const value = expected.trim() === "" ? NaN : Number(expected);
      if (Number.isFinite(value)) return [{ ...json, op: NUMBER_OPS[operator], value }];
    }
  }
  notes.disable(
    `Its comparison has no counterpart: ${cutText(`${operator} ${expected}`, SHOWN_MAX)}. Give it an assertion, and resume it.`,
  );
  return [];
}
