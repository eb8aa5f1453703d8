import type { TObject } from "@sinclair/typebox";
import { type Cell, toCsv } from "../../base/csv";
import { toIso } from "../../base/time";
import type { Span } from "../components/history";
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
