import type { Clock } from "../../base/clock";
import { SECOND_MS } from "../../base/time";

/** Silence from which a process counts as ended. */
const GONE_MS = 30 * SECOND_MS;

/**
 * Number of changes from one process to the other after which both are alive. A report of an ended process that arrives
 * late makes two.
 */
const CHANGES = 3;

/** Processes that report with one identity. */
interface Runs {
  first: string;
  second: string | undefined;
  last: string;
  changes: number;
  /** Monotonic time of the last report of the first. */
  seenAt: number;
}

/**
 * Returns a function that takes each report's node and process. It returns true for the later one of two processes that
 * report with one identity in turn. The data directory of a node was copied then. A node that was started again has
 * one process, since its former one never reports again.
 */
export function createRunWatch(clock: Pick<Clock, "monotonic">) {
  const nodes = new Map<string, Runs>();

  return function isCopy(node: string, run: string): boolean {
    const now = clock.monotonic();
    const runs = nodes.get(node);
    if (!runs || (run !== runs.first && run !== runs.second)) {
      const first = runs?.last ?? run;
      const second = runs && run;
      const seenAt = runs && first === runs.first ? runs.seenAt : now;
      nodes.set(node, { first, second, last: run, changes: 0, seenAt });
      return false;
    }
    if (run !== runs.last) runs.changes += 1;
    runs.last = run;
    if (run === runs.first) {
      runs.seenAt = now;
      return false;
    }
    if (now - runs.seenAt <= GONE_MS) return runs.changes >= CHANGES;
    nodes.set(node, { first: run, second: undefined, last: run, changes: 0, seenAt: now });
    return false;
  };
}
