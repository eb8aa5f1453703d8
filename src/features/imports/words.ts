import { type ImportReport, type Verdict, VERDICTS } from "../../base/import-report";
import { spaced } from "../../base/text";

/** Returns the numbers of verdicts as a phrase, such as "3 created, 1 not moved". */
export function verdictsInWords(counts: ImportReport["counts"]): string {
  const parts = VERDICTS.flatMap((verdict) => {
    const count = counts[verdict];
    return count === undefined ? [] : [`${count.toLocaleString("en")} ${spaced(verdict)}`];
  });
  return parts.join(", ") || "no objects";
}

/** Reason for which a second import does not start. */
export const IMPORT_RUNS = "Another import is running. Wait until it has ended.";

/** Verdicts of objects that an import does not change. */
const IDLE: ReadonlySet<string> = new Set(["unchanged", "kept", "not_moved"] satisfies Verdict[]);

/** Returns true if an import changes something. */
export function hasWork({ counts, history }: Pick<ImportReport, "counts" | "history">): boolean {
  return history !== null || Object.keys(counts).some((verdict) => !IDLE.has(verdict));
}
