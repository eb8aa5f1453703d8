import type { TObject } from "@sinclair/typebox";
import { toIso } from "../../kernel/time";
import type { Span } from "../components";
import { type Cell, toCsv } from "./csv";
import type { IntervalName, Period } from "./period";

/** A figure of analytics with all that there is to say of it. */
export interface Answer<Row> {
  from: string;
  to: string;
  interval: IntervalName | null;
  /** Sentence about the method of counting. */
  method: string;
  data: Row[];
}

/** Returns the fields that every answer starts with. */
export function headOf({ from, to, interval }: Period, method: string) {
  return { from: toIso(from), to: toIso(to), interval, method };
}

/** The interval that a line is of. */
export function lineOf({ from, to }: Span) {
  return { from: toIso(from), to: toIso(to) };
}

/** The lines of an answer as CSV, in the order of their schema's fields; the last column is the method. */
export function answerToCsv<Row extends object>(line: TObject, answer: Answer<Row>): string {
  const columns = Object.keys(line.properties);
  const rows = answer.data.map((row) => {
    const cells = row as Record<string, Cell>;
    return [...columns.map((column) => cells[column] ?? null), answer.method];
  });
  return toCsv([...columns, "method"], rows);
}
