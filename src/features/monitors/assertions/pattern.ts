import { whenAsked } from "../../../kernel/when-asked";

// Loaded with the first pattern, not while the server starts.
const library = whenAsked(() => require("re2js") as typeof import("re2js"));

/** Whether a text holds what the pattern describes, looking at its first `PATTERN_LOOKS_AT` characters. */
export type Pattern = (text: string) => boolean;

const PATTERN_LOOKS_AT = 65_536;

const LONGEST_PATTERN = 500;

/**
 * RE2 needs time in proportion to the pattern's size times the text's length, whatever either says.
 * Both are bounded, so that the worst pattern on the worst text takes about a tenth of a second.
 */
const LARGEST_PROGRAM = 100;

/** Reads a regular expression in RE2's syntax; a sentence's end that says what is wrong if it is none. */
export function parsePattern(source: string): Pattern | string {
  if (source.length > LONGEST_PATTERN) return `is longer than ${LONGEST_PATTERN} characters`;
  const { RE2JS } = library();
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    return `is not a regular expression that is understood here: ${(error as Error).message}`;
  }
  if (compiled.programSize() > LARGEST_PROGRAM) return "is too large a regular expression";
  return (text) => compiled.test(text.slice(0, PATTERN_LOOKS_AT));
}
