import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { sum } from "../../base/numbers";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import type { DataDirectory } from "../../db/data-directory";
import { countOrphans, listSetAside } from "../../db/orphans";
import type { Reader } from "../../db/statements";
import { readUndismissed } from "../../features/alarms/fleet";
import type { MetricFamily } from "../../features/metrics/metrics";
import { type Following, startFollowing } from "../follow/follow";
import { findReplicaFile } from "../node";
import type { LeaderWatch } from "../leader";
import { levelPrefix } from "../log/replication";
import { fleetFamily } from "../health-routes";
import { type NodeReport, SET_ASIDE_MAX } from "../primary/nodes";
import type { FleetStore } from "../store";

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

/** Interval at which the data directory is looked through. */
const LOOK_MS = 10 * MINUTE_MS;
/** Interval at which dismissals are read while there are orphans. */
const DISMISSALS_MS = 5 * SECOND_MS;
/** Pause until the database of a replica that has just started can be read. */
const FIRST_MS = MINUTE_MS / 6;

/** Databases of earlier terms in a data directory. */
interface SetAsideWatch extends Timer {
  list(): NodeReport["setAside"];
  /** Returns the number of missing events that were not dismissed. */
  undismissed(): number;
}

/** Returns the metric of the missing events that were not dismissed. */
export function orphansFamily({ undismissed }: Pick<SetAsideWatch, "undismissed">): MetricFamily {
  return fleetFamily(
    "gauge",
    "orphans",
    "Events of databases of earlier terms on this node that the present history lacks and no owner has dismissed.",
    undismissed,
  );
}

/**
 * Counts the events of databases that were set aside which the present history lacks, ten seconds after the start
 * and every ten minutes. `read` runs a function that reads the present database.
 */
export function watchSetAside(
  {
    clock,
    log,
    directory,
    node,
  }: {
    clock: Clock;
    log: Log;
    directory: Pick<DataDirectory, "database">;
    /** Name of this node. */
    node: string;
  },
  read: <T>(work: (reader: Reader) => T) => T | Promise<T>,
): SetAsideWatch {
  let found: NodeReport["setAside"] = [];
  let undismissed = 0;

  /** Reads which events were dismissed, on any node. */
  async function readDismissals(): Promise<void> {
    try {
      const all = found.map((one) => ({ node, ...one }));
      const open =
        all.length === 0 ? [] : await read((reader) => all.filter(readUndismissed(reader)));
      undismissed = sum(open.map(({ events }) => events));
    } catch (error) {
      log.debug({ err: error }, "dismissed events of earlier terms could not be read");
    }
  }

  async function look(): Promise<void> {
    try {
      const files = listSetAside(directory).slice(0, SET_ASIDE_MAX);
      if (files.length === 0) found = [];
      else {
        found = await read((reader) =>
          files.map((file) => ({ file, events: countOrphans(file, reader) })),
        );
      }
    } catch (error) {
      log.debug({ err: error }, "databases of earlier terms could not be compared");
    }
    await readDismissals();
  }

  const timers = [
    clock.after(FIRST_MS, () => void look()),
    clock.every(LOOK_MS, () => void look()),
    clock.every(DISMISSALS_MS, () => void readDismissals()),
  ];
  return {
    list: () => found,
    undismissed: () => undismissed,
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}
