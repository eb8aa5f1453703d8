import type { Clock } from "../kernel/clock";
import type { Log } from "../kernel/log";
import { SECOND_MS } from "../kernel/time";
import type { FleetStore } from "./fleet-store";
import { type Following, startFollowing } from "./follow/follow";
import { findReplicaFile } from "./follow/replica-file";
import type { LeaderWatch } from "./leader-watch";
import { levelPrefix } from "./litestream";

/** Pause between two looks for a record of the primary, in ms. */
const LEADER_WAIT_MS = SECOND_MS;

interface LeaderDependencies {
  folder: string;
  /** Id of this node. */
  node: string;
  clock: Clock;
  log: Log;
  hasHints: () => boolean;
}

/** Begins to follow the log of the leader record, or of an earlier run while the store cannot be read. */
export async function followLeader(
  store: FleetStore,
  leader: LeaderWatch,
  { folder, node, ...deps }: LeaderDependencies,
): Promise<Following> {
  const { litestream } = store;
  const prefix = await findPrefix(leader, folder, deps);
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
  folder: string,
  { clock, log }: { clock: Clock; log: Log },
): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const prefix = leader.record()?.prefix ?? (attempt > 1 && findReplicaFile(folder)?.prefix);
    if (prefix) return prefix;
    if (attempt === 2) log.warn("the store has no record of a primary; waiting for one");
    await new Promise<void>((resolve) => clock.after(LEADER_WAIT_MS, resolve));
  }
}
