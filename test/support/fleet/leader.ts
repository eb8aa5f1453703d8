import type { Alarms } from "../../../src/features/alarms/alarms";
import type { LeaderRecord } from "../../../src/fleet/leader";

/** Returns the record of a primary in its first term. */
export function leaderRecord(changes: Partial<LeaderRecord> = {}): LeaderRecord {
  return {
    term: 1,
    node: "node_a",
    run: "run_a",
    address: null,
    prefix: "term-000001-1",
    previous: null,
    renewal: 0,
    version: "1.0.0",
    schema: 21,
    released: false,
    ...changes,
  };
}

/** Alarms that only list the kinds that hold. */
export function createTestAlarms(): Pick<Alarms, "raise" | "clear"> & { raised: Set<string> } {
  const raised = new Set<string>();
  return {
    raised,
    raise: (kind) => void raised.add(kind),
    clear: (kind) => void raised.delete(kind),
  };
}
