import { expect, test } from "bun:test";
import { comparePairs, toComparisonTable } from "../../bench/support/comparison";
import { selectRows } from "../../bench/rows";
import type { Figure } from "../../bench/support/figure";

function figures(ms: number): Figure[] {
  return [
    { what: "a figure without numbers", target: "", measured: "" },
    { what: "a read", target: "", measured: "", numbers: { ms } },
  ];
}

test("a comparison has the medians, their ratio and the ratios of the pairs", () => {
  const pairs = [
    { a: figures(10), b: figures(11) },
    { a: figures(20), b: figures(24) },
    { a: figures(30), b: figures(27) },
  ];
  expect(comparePairs(pairs)).toEqual([
    {
      name: "a read: ms",
      a: 20,
      b: 24,
      ratio: 1.2,
      spread: { lowest: 0.9, lower: 0.9, upper: 1.2, highest: 1.2 },
    },
  ]);
  expect(toComparisonTable(comparePairs(pairs))).toContain(
    "| a read: ms | 20.00 | 24.00 | 1.200 | 0.900 to 1.200 | 0.900 to 1.200 |",
  );
});

test("rows are selected by name, in the order of the table", () => {
  const names = selectRows(["start-up", "status-read"]).map(([name]) => name);
  expect(names).toEqual(["status-read", "start-up"]);
  expect(() => selectRows(["no-row"])).toThrow("There is no row no-row; there are status-read,");
});
