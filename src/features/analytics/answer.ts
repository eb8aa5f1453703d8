import type { TObject } from "@sinclair/typebox";
import { toIso } from "../../kernel/time";
import type { Span } from "../components";
import type { IntervalName, Period } from "./period";

/** Figures with their period and method. */
export interface Answer<Row> {
  from: string;
  to: string;
  interval: IntervalName | null;
  /** Method of counting, in words. */
  method: string;
  data: Row[];
}

/** Returns the fields that every answer starts with. */
export function headOf({ from, to, interval }: Period, method: string) {
  return { from: toIso(from), to: toIso(to), interval, method };
}

/** Returns the interval of a line. */
export function lineOf({ from, to }: Span) {
  return { from: toIso(from), to: toIso(to) };
}

/**
 * Returns an answer as CSV, with the fields of the line's schema as columns and the method as the
 * last one.
 */
export function answerToCsv<Row extends object>(line: TObject, answer: Answer<Row>): string {
  const columns = Object.keys(line.properties);
  const rows = answer.data.map((row) => {
    const cells = row as Record<string, Cell>;
    return [...columns.map((column) => cells[column] ?? null), answer.method];
  });
  return toCsv([...columns, "method"], rows);
}

/* Tables as text/csv (RFC 4180). Cells that a program could take for formulas are escaped. */

/** Content of a cell; null is empty. */
type Cell = string | number | boolean | null;

/**
 * Matches the first characters of a formula (OWASP's list) in every spelling that spreadsheets
 * accept, also after white space.
 */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/u;

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
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns true if an Accept header (RFC 9110) prefers text/csv to JSON. JSON wins a tie. */
export function prefersCsv(accept: string | null): boolean {
  if (accept === null) return false;
  const ranges = accept
    .toLowerCase()
    .split(",")
    .map((part) => {
      const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    });
  // The most specific matching range decides.
  const weightOf = (type: string) => {
    const [family] = type.split("/");
    for (const desired of [type, `${family}/*`, "*/*"]) {
      const entry = ranges.find(({ range }) => range === desired);
      if (entry) return entry.weight;
    }
    return 0;
  };
  return weightOf("text/csv") > weightOf("application/json");
}
