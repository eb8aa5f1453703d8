import { writeSync } from "node:fs";
import type { Output } from "./command";

/**
 * Returns standard output and error of the process. Lines are written completely before the call returns, so
 * that an exit loses nothing, even with a slow pipe. `out` throws if data cannot be written, such as on a
 * full disk, since a new key would be lost. A closed pipe, such as by `head`, is ignored.
 */
export function processOutput(): Output {
  return {
    out: (line) => writeLine(1, line),
    err(line) {
      try {
        writeLine(2, line);
      } catch {
        // The error cannot be reported anywhere.
      }
    },
  };
}

function writeLine(descriptor: number, line: string): void {
  let rest = Buffer.from(`${line}\n`);
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

/** Prints rows below their titles, in columns as wide as their widest cell. */
export function printTable(
  output: Output,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): void {
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
