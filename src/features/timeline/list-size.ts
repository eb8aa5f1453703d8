/** Rows, which are updates, named components and each 250 bytes of texts, that one page of an API list reads. */
export const LIST_ROWS_MAX = 10_000;

/** Updates and named components that one public document or screen reads of all that it lists. */
export const DOCUMENT_ROWS_MAX = 5_000;

/** Named components that such a document shows of each incident or maintenance beyond its budget. */
export const CUT_COMPONENTS = 20;

/** Bytes of text that cost an answer about as much as one named component. */
const TEXT_BYTES_A_ROW = 250;

/** The number of rows, and the bytes of texts, that an answer reads of something by its id. */
interface Size {
  id: string;
  rows: number;
  textBytes?: number;
}

/**
 * Returns the number of leading ids that have at most `most` rows in all. `sizes` may lack ids
 * behind the place where `most` is exceeded.
 */
export function countWithin(ids: readonly string[], sizes: readonly Size[], most: number): number {
  const rowsOf = new Map(
    sizes.map(({ id, rows, textBytes = 0 }) => [
      id,
      rows + Math.floor(textBytes / TEXT_BYTES_A_ROW),
    ]),
  );
  let sum = 0;
  const end = ids.findIndex((id) => (sum += rowsOf.get(id) ?? Number.POSITIVE_INFINITY) > most);
  return end < 0 ? ids.length : end;
}
