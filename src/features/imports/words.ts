import { type ImportReport, VERDICTS } from "../../domain/import-report";
import { spaced } from "../../kernel/text";

/** Returns the numbers of verdicts as a phrase, such as "3 created, 1 not moved". */
export function verdictsInWords(counts: ImportReport["counts"]): string {
  const parts = VERDICTS.flatMap((verdict) => {
    const count = counts[verdict];
    return count === undefined ? [] : [`${count.toLocaleString("en")} ${spaced(verdict)}`];
  });
  return parts.join(", ") || "nothing";
}
