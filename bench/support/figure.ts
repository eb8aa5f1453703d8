/** Row of the table: the measured figure, its target, and if it meets the target. */
export interface Figure {
  what: string;
  target: string;
  measured: string;
  /** Undefined for a figure without a target of its own. */
  isReached?: boolean;
  /** Numbers by name and unit, for the comparison of two executables. */
  numbers?: Readonly<Record<string, number>>;
}

/** The head of the table of figures. */
export const FIGURE_HEAD = ["figure", "target", "measured", "met"];

/** The cells of a figure in that table. */
export function figureCells({ what, target, measured, isReached }: Figure): string[] {
  return [what, target, measured, isReached === undefined ? "" : isReached ? "yes" : "no"];
}

/** Writes a Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly string[][]): string {
  return [head, head.map(() => "---"), ...rows].map(tableLine).join("\n");
}

/** Writes a line of a Markdown table. */
export function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** The middle of some numbers, which one bad run on a busy machine does not move. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error("there is no median of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The least of some numbers that at least `percent` of them do not exceed (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error("there is no percentile of nothing");
  return value;
}

/** A count as a table shows it: three digits that matter, thousands as k. */
export function rounded(value: number): string {
  if (value < 1_000) return value.toPrecision(3);
  return `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)} k`;
}

/** Returns the figure of an amount of memory. */
export function memoryFigure(what: string, bytes: number, reachBytes: number): Figure {
  return {
    what,
    target: megabytes(reachBytes),
    measured: megabytes(bytes),
    isReached: bytes <= reachBytes,
    numbers: { MB: bytes / 1e6 },
  };
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
