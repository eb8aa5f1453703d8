import { OperatorError } from "../../db/errors";
import { ObjectStoreError } from "../../object-store/model";
import { describeOther } from "../leader/claim";
import { type FleetStore, findWrongClock } from "../fleet-store";
import { isRecordOf, readLeader } from "../leader/record";
import type { FleetNode } from "../node";
import { findInterrupted } from "./promotion";

interface EmptyDirectory {
  node: FleetNode;
  store: FleetStore;
  /** True if the node goes on as a replica when another one is the primary. */
  rejoins: boolean;
  /** True if the data directory has the copy of a replica. */
  hasCopy: boolean;
}

/**
 * Returns the role of a node that is started as a primary and has no database. It begins an empty one only if it is known
 * that the fleet has none, since replicas would follow it. Throws an OperatorError if it can be neither.
 */
export async function roleWithoutDatabase(
  directory: EmptyDirectory,
): Promise<"primary" | "replica"> {
  const { node, store, rejoins, hasCopy } = directory;
  const { name } = store.leader;
  try {
    const current = await readLeader(store.leader, node);
    if (!current && !hasCopy) return "primary";
    if (!current && rejoins) return "replica";
    if (!current) throw describeCopy(name);
    const { record } = current;
    const isFirst =
      !hasCopy && record.previous === null && (await findInterrupted(directory, false));
    if (isFirst) return "primary";
    if (rejoins) return "replica";
    if (record.node !== node.id) throw describeOther(record, name);
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    const wrongClock = findWrongClock(store.leader);
    if (wrongClock) throw wrongClock;
    if (rejoins && hasCopy) return "replica";
    throw new OperatorError(
      `${error.message} The data directory has no database, and it is not known if the fleet has one. Start this node again when the store answers.`,
      error,
    );
  }
  throw new OperatorError(
    `This node was the last primary of the fleet in ${name}, but its data directory has no database. Start it with --replica --eligible, and promote it once it follows the log.`,
  );
}

/** Returns the error of a node that would begin an empty database beside the copy of a replica. */
function describeCopy(store: string): OperatorError {
  return new OperatorError(
    `The data directory has the copy of a replica, but ${store} has no record of a primary. Start this node with --replica. If the fleet is lost, start it with --replica --eligible and run allclear promote --force.`,
  );
}

/** Returns true if the record is that of this node's last term. False while the store does not answer. */
export async function isStillPrimary({
  node,
  store,
}: Pick<EmptyDirectory, "node" | "store">): Promise<boolean> {
  try {
    const current = await readLeader(store.leader, node);
    return current !== undefined && isRecordOf(current.record, node);
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    return false;
  }
}
