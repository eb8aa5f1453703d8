import type { Config } from "../../base/config/options";
import { OperatorError } from "../../db/errors";
import { type DataDirectory, hasInstallation } from "../../db/data-directory";
import { readSchemaVersion } from "../../db/schema-guard";
import { redactText } from "../../base/secrets";
import { systemClock } from "../../base/clock";
import { createLog } from "../../base/log";
import { systemRandom } from "../../base/hash";
import { ObjectStoreError } from "../../object-store/model";
import { findReplicaFile } from "../follow/replica-file";
import { createLeader } from "../leader/claim";
import { openFleetStore, probeStore } from "../fleet-store";
import { readLeader } from "../leader/record";
import type { Lease } from "../leader/lease";
import { readNode, replicaFolder } from "../node";
import {
  type Candidate,
  completePromotion,
  findInterrupted,
  promoteReplica,
  TakenError,
} from "./promotion";
import { hasLeaseEnded, type SeenRecord, watchRecord } from "../leader/record-watch";
import type { RunningReplica } from "../replica/replica";
import { findLastTerm } from "../leader/term-store";

/** Longest time for applying the rest of the log, in ms, before it is restored from the store. */
const FINISH_MS = 10_000;

/** A replica's way to become the primary. */
export interface EligibleWatch {
  /**
   * Promotes the replica. Without `isForced`, throws an OperatorError while the primary's lease is alive or if the
   * store does not answer.
   */
  promote(isForced: boolean): Promise<void>;
  stop(): void;
}

/** Role of a replica at the start of its process. */
type Place = "primary" | "replica" | "interrupted";

/** Alarms of a promotion: there is no database for them yet. */
const NO_ALARMS = { raise() {}, clear() {} };

/** Prepares the promotion of the replica in a data directory. */
export function openEligible(config: Config, directory: DataDirectory) {
  const clock = systemClock();
  const log = createLog(config.logLevel, redactText);
  const store = openFleetStore(config, clock);
  const node = readNode(directory, systemRandom);
  const run = Buffer.from(systemRandom(8)).toString("hex");
  const address = config.fleetAddress ?? null;
  const isAutomatic = config.failover === "automatic";

  /**
   * Returns "primary" if this node is the primary without a promotion: the first node of a new fleet with automatic
   * failover, unless it has the copy of a replica, or one whose promotion was interrupted, which is completed. Returns
   * "interrupted" if it must be promoted again with its own copy. Throws an OperatorError if the store has no conditional
   * writes.
   */
  async function findPlaceAtStart(): Promise<Place> {
    try {
      return await findPlace();
    } catch (error) {
      // A replica also starts while the store does not answer.
      if (!(error instanceof ObjectStoreError)) throw error;
      log.warn({ err: error }, "the store does not answer, so this node starts as a replica");
      return "replica";
    }
  }

  async function findPlace(): Promise<Place> {
    const hasDatabase = hasInstallation(config.dataDir);
    if (isAutomatic) await probeStore(store, { random: systemRandom, log, isAutomatic });
    const interrupted = await findInterrupted({ node, store }, hasDatabase);
    const hasCopy = findReplicaFile(replicaFolder(directory)) !== undefined;
    if (interrupted) {
      if (!interrupted.previous && hasCopy) return "interrupted";
      await completePromotion({ directory, store }, interrupted);
      return "primary";
    }
    if (!isAutomatic || hasDatabase || hasCopy || (await readLeader(store.leader))) {
      return "replica";
    }
    const claimant = { directory, node, run, address, lastTerm: 0 };
    return (await createLeader(store.leader, claimant)) === "changed" ? "replica" : "primary";
  }

  function watch(
    { following, rank }: RunningReplica,
    onPromoted: (lease: Lease) => void,
  ): EligibleWatch {
    let promoting: Promise<void> | undefined;
    /** Reason why the last attempt failed, which is logged once. */
    let failure: string | undefined;
    const candidate: Candidate = {
      directory,
      node,
      run,
      address,
      store,
      clock,
      log,
      alarms: NO_ALARMS,
      copy: {
        prefix: following.prefix,
        txid: following.txid,
        lastTerm: async () => following.db.read(() => findLastTerm(following.db, {})?.term ?? 0),
        schema: async () => following.db.read(() => readSchemaVersion(following.db)),
        finish: () => following.finish(FINISH_MS),
      },
    };

    function begin({ leader }: SeenRecord): Promise<void> {
      promoting ??= promoteReplica(candidate, leader)
        .then((lease) => {
          record.stop();
          onPromoted(lease);
        })
        .finally(() => (promoting = undefined));
      return promoting;
    }

    const record = watchRecord({
      store: store.leader,
      clock,
      log,
      node: node.id,
      rank,
      onEnded(seen) {
        if (!isAutomatic || promoting) return;
        begin(seen).catch((error: unknown) => {
          const { message } = error as Error;
          if (error instanceof TakenError) log.info("another node has become the primary");
          else if (message !== failure)
            log.error({ err: error }, "this node could not become the primary");
          failure = message;
        });
      },
    });
    return {
      async promote(isForced) {
        const seen = await record.look();
        if (!isForced && !seen.leader) {
          throw new OperatorError(
            `The store ${store.leader.name} has no record of a primary. Add --force to begin a new log there with this replica's copy.`,
          );
        }
        if (!isForced && seen.leader && !hasLeaseEnded(seen, { clock, node: node.id })) {
          throw new OperatorError(
            `The primary ${seen.leader.record.node} may be alive: it has renewed its lease within the last 15 s. Stop it and try again 15 s later, or add --force to take over now.`,
          );
        }
        await begin(seen);
      },
      stop: record.stop,
    };
  }

  return { findPlaceAtStart, watch };
}
