import { OperatorError } from "../../db/errors";
import type { Clock } from "../../base/clock";
import { fetchFleetStatus } from "../commands";
import { isRecordOf, type LeaderRecord, type LeaderStore, readLeader } from "../leader/lease";
import type { FleetNode } from "../node";
import { fleetToken } from "../store";

interface OwnProcess {
  store: LeaderStore;
  node: FleetNode;
  /** Id of this process. */
  run: string;
}

/**
 * Throws an OperatorError if a primary with this node's identity answers at the address of the leader record. The data
 * directory of this node was copied then. After an ordinary stop nothing answers there.
 */
export async function requireOnlyProcess(
  clock: Clock,
  secret: string,
  { store, node, run }: OwnProcess,
): Promise<void> {
  const record = (await readLeader(store, node))?.record;
  const address = record && isRecordOf(record, node) ? record.address : null;
  if (!record || address === null) return;
  const status = await fetchFleetStatus(clock, address, fleetToken(secret)).catch(() => undefined);
  // While the store does not answer, this process listens before it knows its role.
  if (!status || status.run === run) return;
  // Another program may have the address by now.
  const nodes: unknown = status.nodes;
  const isOwn =
    Array.isArray(nodes) &&
    status.nodes.some(({ isSelf, name }) => isSelf && name.endsWith(`/${node.id}`));
  if (isOwn) throw describeCopied(record);
}

/** Returns the error of a primary whose record another process with its identity has taken; undefined otherwise. */
export async function findCopied({
  store,
  node,
  run,
}: OwnProcess): Promise<OperatorError | undefined> {
  const record = (await readLeader(store, node))?.record;
  return record && isRecordOf(record, node) && record.run !== run
    ? describeCopied(record)
    : undefined;
}

function describeCopied({ node, address }: LeaderRecord): OperatorError {
  const place = address === null ? "" : ` at ${address}`;
  return new OperatorError(
    `Another process${place} is the primary with the identity of this node, ${node}: the data directory was copied. Only one of the two may run. Start the other with --replica and an empty data directory.`,
  );
}
