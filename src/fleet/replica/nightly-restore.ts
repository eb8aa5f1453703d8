import { countRows } from "../../db/orphans";
import type { Timer } from "../../base/clock";
import { nodeName } from "../node";
import type { RunningReplica } from "./serve";
import { checkRestore, startNightlyCheck } from "../commands/restore-check";

/** Restores the log from the store each night, unless another replica has, and compares the result with this replica's database. */
export function startNightlyRestore(replica: RunningReplica): Timer {
  const { clock, log, folder, following } = replica;
  const { files, litestream } = replica.store;
  const node = nodeName(replica.node);
  const { db } = following;

  /** Reads the rows of one version of the database. */
  function read() {
    const counts = countRows(db);
    const prefix = following.prefix() ?? "";
    return { prefix, txid: db.txid() ?? 0, counts };
  }

  const parts = { clock, log, store: files, node };
  return startNightlyCheck(parts, () =>
    checkRestore({ ...parts, litestream, folder, read: async () => db.read(read) }),
  );
}
