/* Tables as text/csv (RFC 4180). Cells that a program could take for formulas are escaped. */

/** Content of a cell; null is empty. */
export type Cell = string | number | boolean | null;

/**
 * Matches the first characters of a formula (OWASP's list) in every spelling that spreadsheets
 * accept, also after white space.
 */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/u;
/** Matches apostrophes before such a formula. */
const MARKED_FORMULA = /^'+(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/u;

/** Returns a header line and the rows, each ended by CRLF, in UTF-8 without a byte order mark. */
export function toCsv(columns: readonly string[], rows: Iterable<readonly Cell[]>): string {
  let text = `${columns.join(",")}\r\n`;
  for (const row of rows) text += toCsvLine(row);
  return text;
}

/** Returns one row, ended by CRLF. */
export function toCsvLine(row: readonly Cell[]): string {
  return `${row.map(toCell).join(",")}\r\n`;
}

function toCell(value: Cell): string {
  if (value === null) return "";
  // Numbers are generated here; a minus sign makes no formula.
  if (typeof value !== "string") return String(value);
  // In spreadsheets a leading apostrophe marks text.
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n\v\f\u0085\u2028\u2029]/.test(text) || text !== text.trim()
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

/**
 * Returns a cell for `toCsvLine` that `unguarded` returns as it was, even if it begins with apostrophes before
 * a formula.
 */
export function guarded(cell: string): string {
  return MARKED_FORMULA.test(cell) ? `'${cell}` : cell;
}

/** Returns a cell without the apostrophe that marks it as text. */
export function unguarded(cell: string): string {
  return MARKED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
