/*
 * Tables as text/csv (RFC 4180). Programs that open one may take a cell for a formula; none of these is.
 */

/** Content of a cell; null is empty. */
export type Cell = string | number | boolean | null;

/**
 * Matches the first characters of a formula (OWASP's list) in every spelling that spreadsheets
 * accept, also after white space.
 */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/u;

/** A header line and the rows, each ended by CRLF, in UTF-8 without a byte order mark. */
export function toCsv(columns: readonly string[], rows: Iterable<readonly Cell[]>): string {
  let text = `${columns.join(",")}\r\n`;
  for (const row of rows) text += toCsvLine(row);
  return text;
}

/** One row, ended by CRLF. */
export function toCsvLine(row: readonly Cell[]): string {
  return `${row.map(toCell).join(",")}\r\n`;
}

function toCell(value: Cell): string {
  if (value === null) return "";
  // Numbers are ours, and a minus before one is no formula.
  if (typeof value !== "string") return String(value);
  // A leading apostrophe is how spreadsheets say that text follows.
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
