import type { SuppressedKey } from "./list-store";

/** Part of a list. */
export interface ListPart<Row> {
  rows: readonly Row[];
  /** Continues the list; undefined at its end. There can be fewer rows than `limit` before it. */
  nextBefore: string | undefined;
}

/** Order of a list: key of a row, and text of a key. */
interface Order<Row, Key> {
  keyOf(row: Row): Key;
  compare(a: Key, b: Key): number;
  toText(key: Key): string;
}

export const BY_ID: Order<{ id: string }, string> = {
  keyOf: ({ id }) => id,
  compare: (a, b) => (a < b ? 1 : a > b ? -1 : 0),
  toText: (id) => id,
};

export const BY_NUMBER: Order<{ seq: number }, number> = {
  keyOf: ({ seq }) => seq,
  compare: (a, b) => b - a,
  toText: String,
};

export const BY_SUPPRESSION: Order<SuppressedKey, SuppressedKey> = {
  keyOf: ({ at, mark }) => ({ at, mark }),
  compare: (a, b) => b.at - a.at || BY_ID.compare(a.mark, b.mark),
  toText: ({ at, mark }) => `${at}.${mark}`,
};

/**
 * Returns the first `limit` rows of several searches. Each found up to one more than `limit`, and looked at
 * everything up to its last row, or to the end, or to the key that `end` returns if it stopped there.
 */
export function merged<Row extends { id: string }, Key>(
  searches: readonly { rows: readonly Row[]; end: () => Key | undefined }[],
  limit: number,
  { keyOf, compare, toText }: Order<NoInfer<Row>, Key>,
): ListPart<Row> {
  const ends = searches.flatMap(({ rows, end }): Key[] => {
    const last = rows.at(-1);
    const key = rows.length > limit && last ? keyOf(last) : end();
    return key === undefined ? [] : [key];
  });
  const [end] = ends.sort(compare);
  const rows = searches
    .flatMap((search) => search.rows)
    .filter((row) => end === undefined || compare(keyOf(row), end) <= 0)
    .sort((a, b) => compare(keyOf(a), keyOf(b)));
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()];
  const shown = unique.slice(0, limit);
  const last = shown.at(-1);
  const next = unique.length > limit && last ? keyOf(last) : end;
  return { rows: shown, nextBefore: next === undefined ? undefined : toText(next) };
}
