/**
 * Compares two executables: `bun bench/compare.ts <a> <b> [row…] [--rounds 9]`. Each round measures
 * every row once for both, in the order A B, then B A, and so on, so that a drift of the machine
 * affects both alike. Prints a Markdown table with the medians, their ratio and the ratios of the pairs.
 *
 * Measures fresh copies of both: the place of a file in the page cache changes a start by a tenth.
 */
import { closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { IN_PROCESS, type Row, selectRows } from "./rows";
import { comparePairs, type Pair, toComparisonTable } from "./support/comparison";
import type { Figure } from "./support/figure";
import { withWorkspace } from "./support/workspace";

const USAGE = "Usage: bun bench/compare.ts <executable-a> <executable-b> [row…] [--rounds 9]";

interface Comparison {
  a: string;
  b: string;
  rows: [name: string, row: Row][];
  rounds: number;
}

/** Reads the command line. Throws an Error for the user. */
function readArguments(): Comparison {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: "string", default: "9" } },
  });
  const [a, b, ...names] = positionals;
  const rounds = Number(values.rounds);
  if (a === undefined || b === undefined || !Number.isInteger(rounds) || rounds < 1) {
    throw new Error(USAGE);
  }
  const inProcess = names.filter((name) => IN_PROCESS.has(name));
  if (inProcess.length > 0) {
    throw new Error(
      `${inProcess.join(", ")} measures code in a process of the bench, so no executables can be compared.`,
    );
  }
  return { a, b, rounds, rows: selectRows(names).filter(([name]) => !IN_PROCESS.has(name)) };
}

/** Copies an executable to a new file, all of which is on the disk before anything is measured. */
function copyExecutable(from: string, to: string): string {
  copyFileSync(from, to);
  const file = openSync(to, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return to;
}

/** Measures a row for both executables, one after the other. */
async function measurePair(row: Row, { a, b }: Comparison, round: number): Promise<Pair> {
  const pair: Record<keyof Pair, Figure[]> = { a: [], b: [] };
  for (const side of round % 2 === 0 ? (["a", "b"] as const) : (["b", "a"] as const)) {
    pair[side] = await withWorkspace(row, { a, b }[side]);
  }
  return pair;
}

/** Measures and prints all rows. Returns false if one could not be measured. */
async function compare(comparison: Comparison): Promise<boolean> {
  let isWhole = true;
  for (const [name, row] of comparison.rows) {
    const pairs: Pair[] = [];
    for (let round = 0; round < comparison.rounds; round++) {
      console.error(`${name}, round ${round + 1} of ${comparison.rounds} …`);
      try {
        pairs.push(await measurePair(row, comparison, round));
      } catch (error) {
        isWhole = false;
        console.error(`${name} could not be measured: ${(error as Error).message}`);
      }
    }
    console.log(`## ${name}\n\n${toComparisonTable(comparePairs(pairs))}\n`);
  }
  return isWhole;
}

let comparison: Comparison;
try {
  comparison = readArguments();
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}

const folder = mkdtempSync("/var/tmp/allclear-compare-");
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
try {
  const a = copyExecutable(comparison.a, join(folder, "a"));
  const b = copyExecutable(comparison.b, join(folder, "b"));
  process.exitCode = (await compare({ ...comparison, a, b })) ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
process.exit();
