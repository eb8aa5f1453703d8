/**
 * Measures what Allclear promises of its speed and memory, in the compiled executable, and prints one
 * Markdown table. `bun run bench` measures all rows, `bun bench/run.ts start-up …` some of them. A
 * missed target is marked in the table; only a row that cannot be measured is an error.
 */
import { type Row, selectRows } from "./rows";
import { type Figure, toTable } from "./support/figure";
import { withWorkspace } from "./support/workspace";

let rows: [string, Row][];
try {
  rows = selectRows(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}

const figures: Figure[] = [];
let isWhole = true;
for (const [name, measure] of rows) {
  console.error(`measuring ${name} …`);
  try {
    figures.push(...(await withWorkspace(measure)));
  } catch (error) {
    isWhole = false;
    console.error(`${name} could not be measured: ${(error as Error).message}`);
  }
}
console.log(toTable(figures));
process.exit(isWhole ? 0 : 1);
