import type { Reader } from "../../db/statements";

/** Number of updates shown of each incident or maintenance in a list: the newest ones. */
export const UPDATES_IN_LISTS = 20;

/** Number of components shown of each incident or maintenance that exceeds the limit of a document. */
export const TRUNCATED_COMPONENTS_MAX = 20;

/** Rows that one page of an API list reads: updates, named components and each 250 bytes of text. */
const LIST_ROWS_MAX = 10_000;

/** Updates and named components that one document or screen reads of everything that it lists. */
const DOCUMENT_ROWS_MAX = 5_000;

/** Bytes of text that cost an answer about as much as one named component. */
const TEXT_BYTES_PER_ROW = 250;

/** Statements that measure incidents or maintenances. `ids` is a JSON list. */
interface SizeStatements {
  /** Counts rows in the order of `ids`, and stops after `most` rows in total. */
  listRowCounts(
    reader: Reader,
    params: { ids: string; most: number },
  ): { id: string; rows: number }[];
  /** Returns the bytes of the texts of at most `each` newest updates of each id. */
  listTextSizes(
    reader: Reader,
    params: { ids: string; each: number },
  ): { id: string; bytes: number }[];
}

/** Builds the functions that limit lists of incidents or of maintenances by their size. */
export function listLimits({ listRowCounts, listTextSizes }: SizeStatements) {
  return {
    /** Returns the number of leading entries, at least 1, that one page of an API list can show. */
    countForPage(reader: Reader, entries: readonly { row: { id: string } }[]): number {
      const ids = entries.map(({ row }) => row.id);
      const params = { ids: JSON.stringify(ids), most: LIST_ROWS_MAX + 1, each: UPDATES_IN_LISTS };
      const rows = rowsById(listRowCounts(reader, params));
      for (const { id, bytes } of listTextSizes(reader, params)) {
        const own = rows.get(id);
        if (own !== undefined) rows.set(id, own + Math.floor(bytes / TEXT_BYTES_PER_ROW));
      }
      return Math.max(1, countWithin(ids, rows, LIST_ROWS_MAX));
    },

    /** Returns the number of leading ids that a document can show with all their components. */
    countComplete(reader: Reader, ids: readonly string[]): number {
      const params = { ids: JSON.stringify(ids), most: DOCUMENT_ROWS_MAX + 1 };
      return countWithin(ids, rowsById(listRowCounts(reader, params)), DOCUMENT_ROWS_MAX);
    },
  };
}

function rowsById(counts: readonly { id: string; rows: number }[]): Map<string, number> {
  return new Map(counts.map(({ id, rows }) => [id, rows]));
}

/** Returns the number of leading ids with at most `most` rows in total. Ids without a count exceed it. */
function countWithin(
  ids: readonly string[],
  rows: ReadonlyMap<string, number>,
  most: number,
): number {
  let sum = 0;
  const end = ids.findIndex((id) => (sum += rows.get(id) ?? Number.POSITIVE_INFINITY) > most);
  return end < 0 ? ids.length : end;
}
