import { CheckFailure } from "./conversation";

/** Throws a failure unless the first value of a row is as expected. Messages never repeat it. */
export function compareValue(row: readonly unknown[] | undefined, expected?: string): void {
  if (expected === undefined) return;
  if (!row) throw new CheckFailure("The query returned no row.");
  if (row[0] !== expected) throw new CheckFailure("The result is not as expected.");
}
