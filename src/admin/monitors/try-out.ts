import type { Tx } from "../../db";
import type { MonitorRecord } from "../../features/monitors";
import type { RequestContext } from "../../http";
import type { AdminDependencies } from "../dependencies";
import type { Trial } from "./trial";

/**
 * Runs a check of what a monitor would be after a change, once. The change is the real one, made by the
 * real verbs in a transaction of its own and then taken back: no row, event or audit row stays of it.
 * Rejects with whatever the change throws, such as `validation_failed`.
 */
export type TryOut = (
  requestContext: RequestContext,
  change: (tx: Tx) => MonitorRecord["row"],
) => Promise<Trial>;

/** Undoes the transaction whose outcome was all that was wanted. */
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
