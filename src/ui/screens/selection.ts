/* Actions on the objects that were selected in a list with checkboxes. */
import type { Tx } from "../../db/statements";

/** Maximum number of objects that one form can change. */
export const SELECTION_MAX = 1_000;
/** Objects changed in one transaction, so that other requests are served in between. */
const PER_WRITE = 10;

/** Returns the reason to reject a selection of objects such as "monitor"; undefined if there is none. */
export function selectionError(ids: readonly string[], noun: string): string | undefined {
  if (ids.length === 0) return `Select at least one ${noun}.`;
  if (ids.length > SELECTION_MAX) {
    const most = SELECTION_MAX.toLocaleString("en");
    return `More than ${most} ${noun}s were selected. At most ${most} can be changed at once. Nothing was changed.`;
  }
  return undefined;
}

/**
 * Changes objects, a few per transaction. If a later transaction fails, the rest is counted as left.
 * Rejects if the first one fails.
 */
export async function changeSelected<Result>(
  ids: readonly string[],
  write: <T>(change: (tx: Tx) => T) => Promise<T>,
  change: (tx: Tx, id: string) => Result,
): Promise<{ results: Result[]; left: number }> {
  const results: Result[] = [];
  for (let index = 0; index < ids.length; index += PER_WRITE) {
    const part = ids.slice(index, index + PER_WRITE);
    // oxlint-disable-next-line no-await-in-loop
    const [written] = await Promise.allSettled([write((tx) => part.map((id) => change(tx, id)))]);
    if (written.status === "rejected") {
      if (index === 0) throw written.reason;
      return { results, left: ids.length - index };
    }
    results.push(...written.value);
  }
  return { results, left: 0 };
}
