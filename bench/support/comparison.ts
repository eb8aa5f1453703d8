import { type Figure, markdownTable, median, percentile } from "./figure";

/** Figures of one row from two executables that were measured directly after one another. */
export interface Pair {
  a: readonly Figure[];
  b: readonly Figure[];
}

/** One number of a figure in all pairs. */
interface ComparedNumber {
  name: string;
  /** Medians. */
  a: number;
  b: number;
  /** Median of B divided by that of A. */
  ratio: number;
  /** Ratios of the pairs: the lowest, the quartiles and the highest. */
  spread: { lowest: number; lower: number; upper: number; highest: number };
}

/** Compares each number of a row's figures, which come in the same order each time. */
export function comparePairs(pairs: readonly Pair[]): ComparedNumber[] {
  const [first] = pairs;
  if (!first) return [];
  return first.a.flatMap(({ what, numbers = {} }, index) =>
    Object.keys(numbers).map((unit) => {
      const of = (figures: readonly Figure[]) => figures[index]?.numbers?.[unit] ?? Number.NaN;
      const all = pairs.map((pair) => ({ a: of(pair.a), b: of(pair.b) }));
      const [a, b] = [median(all.map((one) => one.a)), median(all.map((one) => one.b))];
      const ratios = all.map((one) => one.b / one.a);
      const spread = {
        lowest: Math.min(...ratios),
        lower: percentile(ratios, 25),
        upper: percentile(ratios, 75),
        highest: Math.max(...ratios),
      };
      return { name: `${what}: ${unit}`, a, b, ratio: b / a, spread };
    }),
  );
}

/** Returns the compared numbers as a Markdown table. */
export function toComparisonTable(compared: readonly ComparedNumber[]): string {
  const rows = compared.map(({ name, a, b, ratio, spread }) => [
    name,
    a.toPrecision(4),
    b.toPrecision(4),
    ratio.toFixed(3),
    `${spread.lowest.toFixed(3)} to ${spread.highest.toFixed(3)}`,
    `${spread.lower.toFixed(3)} to ${spread.upper.toFixed(3)}`,
  ]);
  const head = ["figure", "A", "B", "B / A", "ratios of the pairs", "middle half of them"];
  return markdownTable(head, rows);
}
