import {
  changeValueInWords,
  type ImportHistory,
  type ImportItem,
  type ImportReport,
  typeInWords,
  VERDICT_MEANINGS,
  VERDICTS,
  verdictsInWords,
} from "../base/import-report";
import { capitalised, plural, spaced } from "../base/text";
import type { Output } from "./command";

/** Width of the longest verdict. */
const VERDICT_WIDTH = 9;

/** Prints a plan or a report by lines. Objects that stay unchanged are only counted. */
export function printReport(output: Output, report: ImportReport): void {
  const { items, not_read: notRead, to_do: toDo } = report;
  const listed = items.filter(({ verdict }) => verdict !== "unchanged");
  for (const [type, ofType] of Map.groupBy(listed, ({ foreign }) => foreign.type)) {
    output.out(`${capitalised(typeInWords(type)[1])}:`);
    for (const item of ofType) printItem(output, item);
  }
  if (report.history) printHistory(output, report.history, report.dry_run);
  printList(output, "Not read, since this version does not know it:", notRead);
  printList(output, "To do:", toDo);
  printList(output, "Verdicts:", explanationsOf(report.counts));
  output.out(`${capitalised(verdictsInWords(report.counts))}.`);
}

/** Returns the meanings of the verdicts that occur, except those that their word explains. */
function explanationsOf(counts: ImportReport["counts"]): string[] {
  const named = VERDICTS.filter((verdict) => !/^(created|updated|unchanged)$/.test(verdict));
  return named.flatMap((verdict) =>
    counts[verdict] === undefined
      ? []
      : [`${spaced(verdict).padEnd(VERDICT_WIDTH)}  ${VERDICT_MEANINGS[verdict]}`],
  );
}

function printHistory(
  output: Output,
  { results, days, from, until, skipped }: ImportHistory,
  isEstimate: boolean,
): void {
  const count = `${isEstimate ? "about " : ""}${results.toLocaleString("en")}`;
  const period = from === null ? "" : ` of ${plural(days, "day")}, from ${from} to ${until}`;
  output.out(`History: ${count} results${period}.`);
  for (const [reason, rows] of Object.entries(skipped)) {
    output.out(`  ${rows.toLocaleString("en")} not taken over: ${reason}`);
  }
}

function printItem(output: Output, { verdict, foreign, target, changes, reason }: ImportItem) {
  const becomes = target ? `  → ${target.kind} ${target.ref ?? ""}`.trimEnd() : "";
  const why = reason === null ? "" : `  ${reason}`;
  output.out(`  ${spaced(verdict).padEnd(VERDICT_WIDTH)}  ${foreign.name}${becomes}${why}`);
  for (const { field, from, to, reason: cause } of changes) {
    output.out(`    ${field}: ${changeValueInWords(from)} → ${changeValueInWords(to)}. ${cause}`);
  }
}

function printList(output: Output, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  output.out(title);
  for (const line of lines) output.out(`  ${line}`);
}
