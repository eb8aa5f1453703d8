import type { KeySearch } from "./store";
import { KEY_PREFIX, keyValueStart, startOfValueIn } from "./value";

/** Longer than any name or label, and shorter than the longest pattern that SQLite takes. */
const MAX_LENGTH = 1_000;

const EVERY_KEY: KeySearch = { text: null, contains: "", start: null };

/**
 * Makes ready what a person typed to find keys by. A whole value that was pasted, alone or within
 * other text, goes no further than here: what is searched for is its start.
 */
export function readSearch(typed: string): KeySearch {
  const trimmed = typed.trim();
  if (trimmed === "") return EVERY_KEY;
  // SQLite's LIKE ends a pattern at NUL, which no name holds.
  const text = (startOfValueIn(trimmed) ?? trimmed.slice(0, MAX_LENGTH)).replaceAll("\0", "\uFFFD");
  // Every value starts with the prefix, so less than it would find every key.
  const isStart = text.toLowerCase().startsWith(KEY_PREFIX);
  return {
    text,
    contains: `%${escapeLike(text)}%`,
    start: isStart ? `${escapeLike(keyValueStart(text))}%` : null,
  };
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
