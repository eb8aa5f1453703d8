import type { Config } from "../../base/config/options";
import { OperatorError } from "../../db/errors";
import { type DataDirectory, hasInstallation, openDataDirectory } from "../../db/data-directory";
import { redactText } from "../../base/secrets";
import { type Clock, systemClock } from "../../base/clock";
import { createLog, deduplicateLog, type Log } from "../../base/log";
import { systemRandom } from "../../base/hash";
import { ObjectStoreError } from "../../object-store/model";
import { checkClock, type FleetStore, openFleetStore } from "../fleet-store";
import type { Following } from "../follow/follow";
import { findReplicaFile } from "../follow/replica-file";
import { followLeader } from "./follow-leader";
import { readLeader } from "../leader/record";
import { type LeaderWatch, watchLeader } from "../leader/leader-watch";
import { requireLitestream } from "../log/litestream";
import { type FleetNode, readNode, replicaFolder } from "../node";
import { serveReplica } from "./serve";
import { openForReplica } from "../shared-memory";
import type { UsageSender } from "../usage";
import type { ReplicaMemory } from "../valkey/replica-memory";

export interface RunningReplica {
  /** URL of the server on this machine. */
  url: string;
  clock: Clock;
  log: Log;
  directory: DataDirectory;
  /** Folder of the followed database. */
  folder: string;
  node: FleetNode;
  store: FleetStore;
  following: Following;
  leader: LeaderWatch;
  /** Returns the number of replicas that may become the primary and have newer copies. */
  rank(): number;
  /** Uses of keys that wait for the primary. */
  usage: Pick<UsageSender, "hold" | "takeRest">;
  /** Waits for the setting `drainSeconds`, in which the server answers and is not ready. */
  drain(): Promise<void>;
  /** Waits for requests in progress, sends what was counted, and ends the copy of the database. */
  stop(): Promise<void>;
}

/**
 * Starts a replica: it reads a copy of the primary's database and sends changes to the primary. Resolves to undefined if
 * the process is to end before the primary is known. Throws an OperatorError if the data directory has a database of
 * its own. The caller has locked the data directory.
 */
export async function startReplica(
  config: Config,
  { isEligible, stopRequested }: { isEligible: boolean; stopRequested: Promise<void> },
): Promise<RunningReplica | undefined> {
  const { fleetSecret: secret } = config;
  if (!config.fleetStore) throw new OperatorError("--fleet-store is required with --replica.");
  if (secret === undefined) {
    throw new OperatorError("ALLCLEAR_FLEET_SECRET is required with --replica.");
  }
  const directory = openDataDirectory(config.dataDir);
  requireNoDatabase(directory, config);
  const clock = systemClock();
  const log = deduplicateLog(createLog(config.logLevel, redactText), clock, redactText);
  const stops: (() => unknown)[] = [() => log.flush()];
  let memory: ReplicaMemory | undefined;
  try {
    const store = openFleetStore(config, clock);
    await requireLitestream(store.litestream.program);
    await checkClock(store, log);
    const folder = replicaFolder(directory);
    // Without a copy there is nothing to serve until the record can be read.
    if (!findReplicaFile(folder)) await requireReadable(store);
    const leader = watchLeader(store.leader, { clock, log });
    stops.unshift(() => leader.stop());
    const node = readNode(directory, systemRandom);
    const hasHints = () => memory?.hasHints(leader.record()?.term) ?? false;
    const following = await followLeader(store, leader, {
      folder,
      node: node.id,
      clock,
      log,
      hasHints,
      stopRequested,
    });
    if (!following) {
      await stopAll(stops);
      return undefined;
    }
    stops.unshift(() => following.stop());
    memory = await openForReplica({ config, clock, log, node: node.id }, following);
    if (memory) stops.unshift(() => memory?.stop());
    const own = { directory, node, isEligible, memory, secret, stopRequested };
    const server = await serveReplica({ config, clock, log, store, following, leader, ...own });
    stops.unshift(() => server.stop());
    log.info({ url: server.url, node: node.id, data: directory.path }, "listening as a replica");
    const { stop: _, ...served } = server;
    const parts = { clock, log, directory, folder, node, store, following, leader, ...served };
    return { ...parts, stop: () => stopAll(stops) };
  } catch (error) {
    await stopAll(stops);
    throw error;
  }
}

/** Throws the OperatorError of a record that this node refuses. A store that does not answer says nothing. */
async function requireReadable({ leader: store }: FleetStore): Promise<void> {
  try {
    await readLeader(store);
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
  }
}

async function stopAll(stops: readonly (() => unknown)[]): Promise<void> {
  for (const stop of stops) await stop();
}

function requireNoDatabase(directory: DataDirectory, config: Config): void {
  if (!hasInstallation(config.dataDir)) return;
  throw new OperatorError(
    `The data directory ${directory.path} has a database of its own. A replica needs a directory without one: name another with --data-dir.`,
  );
}
