import { and, desc, gte, lt, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { NEWEST } from "../base/ids";
import { WHOLE_TURN } from "../base/in-slices";
import { type Reader, selectOne } from "./statements";

/** Longest search, in UTF-16 code units. Longer ones are cut. */
const SEARCH_MAX = 200;
/** Words of a search that are looked for. Further ones are ignored. */
const WORDS_MAX = 8;
/** Rows searched in one turn of the event loop: about 20 ms for eight words. */
const ROWS_PER_TURN = 4_000;

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

/** Query for the rows of one part of a table: those with ids from `from` on, below `before`. */
export type PartSearch = SearchedWords & { from: string; before: string; limit: number };

/** Condition that a row belongs to a part of its table, and that its text contains each of the words. */
export function isFound(id: SQLiteColumn, text: SQL, $: PartSearch): SQL | undefined {
  return and(gte(id, $.from), lt(id, $.before), hasWords(text, $));
}

/**
 * Declares the search of a table by words (`wordsOf`). It takes several turns of the event loop, from the highest id
 * on, and returns the first rows: in the order of `compare`, by descending id without it. `searchPart` lists the
 * first rows of a part in that order.
 */
export function declareSearch<Row>(
  table: SQLiteTable & { id: SQLiteColumn },
  searchPart: (reader: Reader, params: PartSearch) => Row[],
  compare?: (a: Row, b: Row) => number,
) {
  /** Finds the id that is `rows` places below an id. */
  const findBoundary = selectOne((orm, $: { before: string; rows: number }) =>
    orm
      .select({ id: sql<string>`${table.id}` })
      .from(table)
      .where(lt(table.id, $.before))
      .orderBy(desc(table.id))
      .limit(1)
      .offset($.rows),
  );
  return function* search(
    reader: Reader,
    query: SearchedWords & { limit: number },
  ): Generator<number, Row[]> {
    const { limit } = query;
    let found: Row[] = [];
    let before = NEWEST;
    for (;;) {
      const from = findBoundary(reader, { before, rows: ROWS_PER_TURN })?.id ?? "";
      found.push(...searchPart(reader, { ...query, from, before }));
      if (compare) found.sort(compare);
      found = found.slice(0, limit);
      const isEnough = !compare && found.length === limit;
      if (from === "" || isEnough) return found;
      before = from;
      yield WHOLE_TURN;
    }
  };
}
