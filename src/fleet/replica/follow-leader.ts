import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { SECOND_MS } from "../../base/time";
import type { FleetStore } from "../fleet-store";
import { type Following, startFollowing } from "../follow/follow";
import { findReplicaFile } from "../follow/replica-file";
import type { LeaderWatch } from "../leader/leader-watch";
import { levelPrefix } from "../log/litestream";

/** Pause between two looks for a record of the primary, in ms. */
const LEADER_WAIT_MS = SECOND_MS;

interface LeaderDependencies {
  folder: string;
  /** Id of this node. */
  node: string;
  clock: Clock;
  log: Log;
  hasHints: () => boolean;
  /** Resolves when the process is to end. */
  stopRequested: Promise<void>;
}

/**
 * Begins to follow the log of the leader record, or of an earlier run while the store cannot be read. Resolves to
 * undefined if the process is to end before a log is known.
 */
export async function followLeader(
  store: FleetStore,
  leader: LeaderWatch,
  { folder, node, stopRequested, ...deps }: LeaderDependencies,
): Promise<Following | undefined> {
  const { litestream } = store;
  const waited = { ...deps, folder, node, stopRequested, store: store.leader.name };
  const prefix = await findPrefix(leader, waited);
  if (prefix === undefined) return undefined;
  const following = await startFollowing({
    store: store.leader,
    levelPrefix: (of, level) => levelPrefix(litestream.store, of, level),
    prefix,
    folder,
    program: litestream.program,
    isPrimaryAlive: leader.isAlive,
    ...deps,
  });
  leader.changed.on((record) => {
    // A node that is being promoted completes its copy of the log before.
    if (record.node !== node) following.changePrefix(record.prefix);
  });
  return following;
}

async function findPrefix(
  leader: LeaderWatch,
  {
    clock,
    folder,
    log,
    node,
    stopRequested,
    store,
  }: Pick<LeaderDependencies, "clock" | "folder" | "log" | "node" | "stopRequested"> & {
    /** Name of the store. */
    store: string;
  },
): Promise<string | undefined> {
  let isStopped = false;
  const stop = stopRequested.then(() => void (isStopped = true));
  for (let attempt = 0; !isStopped; attempt++) {
    const record = leader.record();
    // The log of a promotion without a record has nothing yet if that was interrupted: the copy is complete.
    const isOwn = record?.node === node && record.previous === null;
    const copied = isOwn || attempt > 1 ? findReplicaFile(folder)?.prefix : undefined;
    const prefix = (isOwn ? copied : undefined) ?? record?.prefix ?? copied;
    if (prefix) return prefix;
    if (attempt === 2)
      log.warn({ store }, "no record of a primary was read from the store; waiting for one");
    const pause = new Promise<void>((resolve) => clock.after(LEADER_WAIT_MS, resolve));
    await Promise.race([pause, stop]);
  }
  return undefined;
}
