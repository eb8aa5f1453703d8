import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { Output } from "./command";

/**
 * Returns standard output and error of the process. Lines are written completely before the call returns, so
 * that an exit loses nothing, even with a slow pipe. `out` throws if data cannot be written, such as on a
 * full disk, since a new key would be lost. A closed pipe, such as by `head`, is ignored.
 */
export function processOutput(): Output {
  let shown = "";
  function writeError(text: string): void {
    try {
      writeText(2, text);
    } catch {
      // The error cannot be reported anywhere.
    }
  }
  function show(state: string): void {
    if (state === shown) return;
    shown = state;
    writeError(`\r${ERASE_LINE}${state}`);
  }
  return {
    out(line) {
      show("");
      writeText(1, `${line}\n`);
    },
    err(line) {
      show("");
      writeError(`${line}\n`);
    },
    ...(isatty(2) && { show }),
  };
}

/** Erases a line of a terminal from the cursor on. */
const ERASE_LINE = "\u001B[K";

function writeText(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.byteLength > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      // Another process made the pipe non-blocking, and it is full.
      Bun.sleepSync(1);
    }
  }
}

export function printJson(output: Output, value: unknown): void {
  output.out(JSON.stringify(value, null, 2));
}

/**
 * Prints rows below their titles, in columns as wide as their widest cell. Separators of lines, which earlier versions
 * accepted in names, and control characters are spaces.
 */
export function printTable(
  output: Output,
  titles: readonly string[],
  cells: readonly (readonly string[])[],
): void {
  const rows = cells.map((row) => row.map((cell) => cell.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")));
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of [titles, ...rows]) {
    output.out(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}
