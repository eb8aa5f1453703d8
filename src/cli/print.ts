/** Forms in which commands print: JSON, tables, and lines that are coloured on a terminal. */
import type { Tone } from "../base/status";
import { withLineFeeds } from "../base/text";
import type { Invocation, Output } from "./command";

/** Prints a value as JSON; `isLine` prints it in one line. */
export function printJson(output: Output, value: unknown, isLine = false): void {
  output.out(escapeJson(JSON.stringify(value, null, isLine ? undefined : 2)));
}

/** Prints rows below their titles, in columns as wide as their widest cell. */
export function printTable(
  output: Output,
  titles: readonly string[],
  cells: readonly (readonly string[])[],
): void {
  createPrinter({ env: {}, output }).rows([titles, ...cells]);
}

/**
 * Returns a text in one line that no terminal takes for commands: control characters, separators of lines and characters
 * that reorder text, which earlier versions accepted in names, are spaces.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, " ");
}

/** Text in the colour of a severity. */
interface Toned {
  text: string;
  tone: Tone;
}

export type Cell = string | Toned;

/** Codes of colours of a terminal (SGR). */
const COLOURS: Readonly<Record<Tone, string | undefined>> = {
  none: undefined,
  ok: "32",
  maint: "34",
  degraded: "33",
  partial: "1;33",
  major: "1;31",
};

/** Prints texts of a server. None of them can contain commands for a terminal. */
export interface Printer {
  /** True if a person reads the output on a terminal. */
  readonly isTerminal: boolean;
  /** Prints a line of several texts without spaces between them. */
  line(...cells: Cell[]): void;
  /** Prints rows below each other in columns. */
  rows(rows: readonly (readonly Cell[])[], indent?: string): void;
  /** Prints a text of several lines, indented. */
  text(text: string): void;
  /** Prints a document of the API; `isLine` prints it in one line. */
  json(document: unknown, isLine?: boolean): void;
  /** Prints a sentence about the call to standard error. */
  note(text: string): void;
  /** Erases a terminal, so that the following lines replace everything. */
  clear(): void;
}

export function createPrinter({ env, output }: Pick<Invocation, "env" | "output">): Printer {
  const isTerminal = output.isTerminal ?? false;
  const hasColours = isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const textOf = (cell: Cell) => printable(typeof cell === "string" ? cell : cell.text);
  function show(cell: Cell): string {
    const colour = typeof cell === "string" ? undefined : COLOURS[cell.tone];
    const text = textOf(cell);
    return hasColours && colour ? `\u001B[${colour}m${text}\u001B[0m` : text;
  }
  return {
    isTerminal,
    line: (...cells) => output.out(cells.map(show).join("")),
    rows(rows, indent = "") {
      const widths = (rows[0] ?? []).map((_, column) =>
        Math.max(...rows.map((row) => Bun.stringWidth(textOf(row[column] ?? "")))),
      );
      for (const row of rows) {
        const columns = row.map((cell, column) => {
          const isLast = column === row.length - 1;
          const space = (widths[column] ?? 0) - Bun.stringWidth(textOf(cell));
          return show(cell) + (isLast ? "" : " ".repeat(space + 2));
        });
        output.out((indent + columns.join("")).trimEnd());
      }
    },
    text(text) {
      for (const line of withLineFeeds(text.trim()).split("\n")) {
        output.out(`    ${printable(line)}`.trimEnd());
      }
    },
    json: (document, isLine) => printJson(output, document, isLine),
    note: (text) => output.err(printable(text)),
    // What stands above the screen was there before, and stays.
    clear() {
      if (env["TERM"] !== "dumb") output.out("\u001B[H\u001B[2J");
    },
  };
}

/** Escapes characters of a JSON text that it may contain, and that a terminal takes for commands. */
function escapeJson(json: string): string {
  return json.replace(/[\u007F-\u009F\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
