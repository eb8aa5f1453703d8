import type { Tx } from "../../db";
import type { MonitorRecord } from "../../features/monitors";
import type { RequestContext } from "../../http";
import type { AdminDependencies } from "../dependencies";
import type { Trial } from "./trial";

/**
 * Checks a monitor once as it would be after a change. The change runs in a transaction that is
 * rolled back, so no row, event or audit entry remains. Rejects with the errors of the change, such
 * as `validation_failed`.
 */
export type TryOut = (
  requestContext: RequestContext,
  change: (tx: Tx) => MonitorRecord["row"],
) => Promise<Trial>;

/** Thrown to roll back the transaction; carries its result. */
class PreviewRollback extends Error {
  readonly row: MonitorRecord["row"];

  constructor(row: MonitorRecord["row"]) {
    super("a trial is rolled back");
    this.row = row;
  }
}

export function createTryOut({
  monitoring,
  writeAs,
}: Pick<AdminDependencies, "monitoring" | "writeAs">): TryOut {
  return async (requestContext, change) => {
    try {
      return await writeAs(requestContext, (tx): never => {
        throw new PreviewRollback(change(tx));
      });
    } catch (error) {
      if (!(error instanceof PreviewRollback)) throw error;
      const { type, config, timeoutMs } = error.row;
      return await monitoring.tryOut(type, config, timeoutMs);
    }
  };
}
