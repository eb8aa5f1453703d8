import { type SQL, sql } from "drizzle-orm";

/** Longest search, in UTF-16 code units. Longer ones are cut. */
const SEARCH_MAX = 200;

/** Returns the words of a search as the parameter `words` of `hasWords`. */
export function wordsOf(search: string): string {
  return JSON.stringify(search.slice(0, SEARCH_MAX).trim().split(/\s+/).filter(Boolean));
}

/** Condition that a text contains each of the words, in any order, case-insensitive for ASCII. */
export function hasWords(text: SQL, words: unknown): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${words}) AS word
    WHERE instr(lower(${text}), lower(word.value)) = 0)`;
}
