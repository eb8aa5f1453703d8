import type { Output } from "./command";

/** Prints rows in columns that are as wide as their widest cell, below their titles. */
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
