import { type FollowedDb, readTxid, type Txid } from "../../db/followed-database";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { type ChildProcess, endLeftover } from "../log/child-process";
import { followerPidFile, removeFollowed, startFollower, startRestore } from "./litestream";
import type { LogFetcher } from "./log-fetcher";
import { nextReplicaPath, noteReplicaFile, replicaPaths, type ReplicaFile } from "./replica-file";
import { neededRepair, type Repair } from "./watchdog";

/** Applies the log to the database that is read, and repairs that. */
export interface Follower {
  /** The database that is read; undefined before the first restore. */
  current(): ReplicaFile | undefined;
  /** Last applied transaction; 0 before the first restore. */
  applied(): Txid;
  /** Follows the database of an earlier run. Throws without one. */
  resume(fetcher: LogFetcher): void;
  /**
   * Restores the folder of a fetcher into another file, and reads and follows that. Rejects if the folder has no
   * beginning, or reaches less than what is read, of the same prefix.
   */
  restore(prefix: string, fetcher: LogFetcher): Promise<void>;
  /** Begins the repair that is needed. `aheadSince`: monotonic time since which the folder has more. */
  check(aheadSince: number | undefined): void;
  isRestoring(): boolean;
  figures(): { restarts: number; restores: number };
  stop(): Promise<void>;
}

interface FollowerDependencies {
  /** Path or name of Litestream's program. */
  program: string;
  /** Folder of the databases. */
  folder: string;
  db: FollowedDb;
  clock: Clock;
  log: Log;
}

/**
 * Creates a follower after it has ended processes of an earlier run, which outlive a crash of the server. `found` is
 * the database of that run.
 */
export async function createFollower(
  deps: FollowerDependencies,
  found: ReplicaFile | undefined,
): Promise<Follower> {
  const { folder, db, clock, log } = deps;
  let current = found;
  let source: LogFetcher | undefined;
  let child: ChildProcess | undefined;
  let restoring: { cancel(): Promise<void> } | undefined;
  let startedAt = 0;
  let endedAfterMs: number | undefined;
  let last: { kind: Repair; at: number } | undefined;
  /** Repairs and restores follow each other. */
  let work: Promise<unknown> = Promise.resolve();
  let working = 0;
  let restarts = 0;
  let restores = 0;
  let isStopped = false;
  for (const path of replicaPaths(folder)) await endLeftover(followerPidFile(path), path);

  function applied(): Txid {
    if (current === undefined) return 0;
    return db.txid() ?? readTxid(current.path) ?? 0;
  }

  function start(file: ReplicaFile, fetcher: LogFetcher): void {
    const started = startFollower(deps, file.path, fetcher.folder);
    child = started;
    startedAt = clock.monotonic();
    endedAfterMs = undefined;
    void started.ended.then((end) => {
      if (child !== started) return;
      child = undefined;
      endedAfterMs = clock.monotonic() - startedAt;
      log.error({ end }, "Litestream, which follows the primary, ended");
    });
  }

  async function stopChild(how: "gently" | "at once"): Promise<void> {
    const ending = child;
    child = undefined;
    // If no new one can be started now, that is tried again.
    endedAfterMs = 0;
    await ending?.stop(how);
  }

  /** Runs a step after all earlier ones. */
  function afterOthers(step: () => Promise<void>): Promise<void> {
    working += 1;
    const done = work.then(step).finally(() => (working -= 1));
    work = done.catch(() => {});
    return done;
  }

  async function restoreNow(prefix: string, fetcher: LogFetcher): Promise<void> {
    if (isStopped) return;
    const end = fetcher.plan().at(-1)?.max;
    if (end === undefined) throw new Error(`the log ${prefix} has no beginning yet`);
    const isSame = current?.prefix === prefix;
    if (isSame && end < applied()) throw new Error(`the log ${prefix} has a hole after ${end}`);
    const path = nextReplicaPath(folder, current);
    const running = startRestore(deps, path, fetcher.folder, end);
    restoring = running;
    try {
      await running.done;
    } finally {
      restoring = undefined;
    }
    if (isStopped) return;
    if (isSame && end < applied()) {
      // The follower has recovered meanwhile.
      removeFollowed(path);
      return;
    }
    await stopChild("at once");
    const before = current;
    const file = { path, prefix };
    noteReplicaFile(folder, file);
    await db.moveTo(path);
    [current, source] = [file, fetcher];
    if (before) removeFollowed(before.path);
    if (!isStopped) start(file, fetcher);
  }

  async function make(kind: Repair): Promise<void> {
    if (!current || !source || isStopped) return;
    if (kind === "restore") {
      restores += 1;
      log.warn("the followed database is restored, since Litestream does not go on");
      await restoreNow(current.prefix, source);
    } else {
      restarts += 1;
      log.warn("Litestream is started again");
      await stopChild("at once");
      start(current, source);
    }
  }

  return {
    current: () => current,
    applied,
    resume(fetcher) {
      if (!current) throw new Error("there is no database of an earlier run");
      source = fetcher;
      start(current, fetcher);
    },
    restore: (prefix, fetcher) => afterOthers(() => restoreNow(prefix, fetcher)),
    check(aheadSince) {
      if (isStopped || working > 0 || !source) return;
      const health = { endedAfterMs, aheadSince, readability: db.readability(), last };
      const kind = neededRepair(health, clock.monotonic());
      if (kind === undefined) return;
      void afterOthers(() => make(kind))
        .catch((error: unknown) => log.error({ err: error }, "the repair failed; trying again"))
        // A failed one is repeated as slowly as one that did not help.
        .finally(() => (last = { kind, at: clock.monotonic() }));
    },
    isRestoring: () => restoring !== undefined,
    figures: () => ({ restarts, restores }),
    async stop() {
      isStopped = true;
      await restoring?.cancel();
      await work;
      await stopChild("gently");
    },
  };
}
