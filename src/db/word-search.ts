import { and, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { isInPart, type Part } from "./parts";

/** Longest search, in UTF-16 code units. Longer ones are cut. */
const SEARCH_MAX = 200;
/** Words of a search that are looked for. Further ones are ignored. */
const WORDS_MAX = 8;

/** Parameters of `isFound`. */
interface SearchedWords {
  /** JSON list of different words. */
  words: string;
  /** Longest of the words, which is looked for first. */
  longest: string;
}

/** Returns the longest words of a search, without those that another word contains. */
export function wordsOf(search: string): SearchedWords {
  // Only ASCII is folded, as SQLite does with the searched texts.
  const folded = search.slice(0, SEARCH_MAX).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const all = folded.split(/\s+/).filter(Boolean);
  const words: string[] = [];
  for (const word of all.toSorted((a, b) => b.length - a.length)) {
    if (!words.some((other) => other.includes(word))) words.push(word);
  }
  return { words: JSON.stringify(words.slice(0, WORDS_MAX)), longest: words[0] ?? "" };
}

/** Condition that a text contains each of the words, in any order, case-insensitive for ASCII. */
function hasWords(text: SQL, $: SearchedWords): SQL {
  return sql`instr(lower(${text}), lower(${$.longest})) > 0
    AND NOT EXISTS (SELECT 1 FROM json_each(${$.words}) AS word
    WHERE instr(lower(${text}), lower(word.value)) = 0)`;
}

/** Search of one part of a table (`declareParts`) by words. */
export type PartSearch = SearchedWords & Part & { limit: number };

/** Condition that a row belongs to a part of its table, and that its text contains each of the words. */
export function isFound(id: SQLiteColumn, text: SQL, $: PartSearch): SQL | undefined {
  return and(isInPart(id, $), hasWords(text, $));
}
