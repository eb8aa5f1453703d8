/**
 * Measures what Allclear promises of its speed and memory, in the compiled executable, and prints one
 * Markdown table, each figure once it is known: all rows take more than an hour. `bun run bench`
 * measures all rows, `bun bench/run.ts start-up …` some of them. A missed target is marked in the
 * table; only a row that cannot be measured is an error.
 */
import { type Row, selectRows } from "./rows";
import { FIGURE_HEAD, figureCells, markdownTable, tableLine } from "./support/figure";
import { withWorkspace } from "./support/workspace";

let rows: [string, Row][];
try {
  rows = selectRows(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}

console.log(markdownTable(FIGURE_HEAD, []));
let isWhole = true;
for (const [name, measure] of rows) {
  console.error(`measuring ${name} …`);
  try {
    for (const figure of await withWorkspace(measure)) console.log(tableLine(figureCells(figure)));
  } catch (error) {
    isWhole = false;
    console.error(`${name} could not be measured: ${(error as Error).message}`);
  }
}
process.exit(isWhole ? 0 : 1);
