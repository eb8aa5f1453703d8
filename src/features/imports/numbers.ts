import type { ImportChange } from "../../base/import-report";
import { findNumber, keepNumber, listNumbers } from "../compat/store";
import type { ImportRun } from "./run";

/** Ranges of numbers, of which an object has one. */
type Range = Parameters<typeof findNumber>[1]["range"];

/** Gives a new object the number that it has in Uptime Kuma. Returns the difference if it cannot have that. */
export function takeNumber(
  { tx, isFirstOfKind }: ImportRun,
  range: Range,
  id: string,
  number: number | null,
): ImportChange[] {
  if (number === null) return [];
  const problem = problemOf();
  if (problem === undefined) {
    keepNumber(tx, { id, number });
    return [];
  }
  const [own] = listNumbers(tx, { ids: JSON.stringify([id]) });
  return [{ field: "number", from: number, to: own?.number ?? null, reason: problem }];

  function problemOf(): string | undefined {
    if (!isFirstOfKind) return "Only the first source keeps its numbers.";
    if (!Number.isSafeInteger(number) || Number(number) < 1) return "It is no valid number.";
    return findNumber(tx, { range, number: Number(number) })
      ? "Another object has the number already."
      : undefined;
  }
}
