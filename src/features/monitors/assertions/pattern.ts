import { LRUCache } from "lru-cache";
import { lazy } from "../../../base/lazy";

// Loaded with the first pattern, not while the server starts.
const library = lazy(() => require("re2js") as typeof import("re2js"));

/** Returns true if a text matches somewhere in its first `PATTERN_LOOKS_AT` characters and the next one. */
type Pattern = (text: string) => boolean;

/** Compiles a regular expression, or returns the end of a sentence that says why it cannot. */
export type ReadPattern = (source: string) => Pattern | string;

/** Number of characters that are searched, as the time of a search is proportional to it. */
export const PATTERN_LOOKS_AT = 65_536;

const LONGEST_PATTERN = 500;

/**
 * Maximum number of states of a compiled pattern. RE2's time is proportional to states and text
 * length; the worst pattern takes about a third of a second for the worst text.
 */
const LARGEST_PROGRAM = 100;

/*
 * Limits that keep the compilation of new patterns, during which a request waits, to about a
 * millisecond: each Unicode class has hundreds of ranges, and without case every character of a
 * range is folded.
 */
const UNICODE_CLASSES_MAX = 5;
const UNICODE_CLASS = /\\p/gi;
const LARGEST_FOLDED_RANGES = 2_000;
const IGNORES_CASE = /\(\?[a-z-]*i/i;
const RANGE_BEYOND_ASCII = /(?:\\x\{([0-9a-f]+)\}|([^\\}]))?-(?:\\x\{([0-9a-f]+)\}|(\P{ASCII}))/giu;

/** Returns the error of a new pattern, as the end of a sentence. */
export function patternProblem(source: string): string | undefined {
  const problem = costProblem(source);
  if (problem !== undefined) return problem;
  const pattern = parsePattern(source);
  return typeof pattern === "string" ? pattern : undefined;
}

/** Compiles a regular expression in RE2's syntax. */
export function parsePattern(source: string): Pattern | string {
  if (source.length > LONGEST_PATTERN) return `is longer than ${LONGEST_PATTERN} characters`;
  const { RE2JS } = library();
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    return `is not a valid regular expression: ${(error as Error).message}`;
  }
  if (compiled.programSize() > LARGEST_PROGRAM) return "is too large a regular expression";
  return (text) => compiled.test(text.slice(0, PATTERN_LOOKS_AT + 1));
}

/** Returns the reason for which a pattern is too expensive to compile, as the end of a sentence. */
function costProblem(source: string): string | undefined {
  if ((source.match(UNICODE_CLASS)?.length ?? 0) > UNICODE_CLASSES_MAX) {
    return `has more than ${UNICODE_CLASSES_MAX} Unicode classes`;
  }
  if (IGNORES_CASE.test(source) && foldedCharacters(source) > LARGEST_FOLDED_RANGES) {
    return "ignores case in too large a range of characters";
  }
  return undefined;
}

/** Returns an upper bound of the characters in ranges beyond ASCII. */
function foldedCharacters(source: string): number {
  let count = 0;
  for (const [, fromHex, from, toHex, to] of source.matchAll(RANGE_BEYOND_ASCII)) {
    count += Math.max(0, codePointOf(toHex, to) - codePointOf(fromHex, from));
  }
  return count;
}

function codePointOf(hex: string | undefined, character: string | undefined): number {
  return hex === undefined ? (character?.codePointAt(0) ?? 0) : Number.parseInt(hex, 16);
}

const CACHED_PATTERNS_MAX = 200;

/** Keeps the compiled patterns that were used last, at most 200. */
export function createPatternCache(): { read: ReadPattern; clear(): void } {
  const patterns = new LRUCache<string, Pattern | string>({ max: CACHED_PATTERNS_MAX });
  return {
    read(source) {
      const pattern = patterns.get(source) ?? parsePattern(source);
      patterns.set(source, pattern);
      return pattern;
    },
    clear: () => patterns.clear(),
  };
}
