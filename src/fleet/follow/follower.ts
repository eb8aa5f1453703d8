import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { type FollowedDb, type Readability, readTxid, type Txid } from "../../db/followed-database";
import { type ChildProcess, endLeftover } from "../log/replication";
import {
  followerPidFile,
  type Listing,
  type LogFetcher,
  removeFollowed,
  startFollower,
  startRestore,
} from "./log-fetcher";
import { nextReplicaPath, noteReplicaFile, type ReplicaFile, replicaPaths } from "./replica-file";

/** Applies the log to the database that is read, and repairs that. */
interface Follower {
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

/** Time between two listings of merged files, and between two while a hole keeps the newest from being applied. */
const LEVELS_MS = 30_000;
const HOLE_MS = 5_000;
/** Time in which the follower applies what it has, before it gets more. */
const BATCH_MS = 250;

/** Copies the log into the folder again and again. */
export interface Poller {
  /** Lists the newest files now. */
  pollNow(): void;
  /** Resolves when no request is under way. */
  stop(): Promise<void>;
}

interface PollerDependencies {
  clock: Clock;
  log: Log;
  /** Returns the time to the next listing, in ms. */
  intervalMs(): number;
  applied(): Txid;
  /** True while no file may be removed. */
  isRestoring(): boolean;
  onListing(listing: Listing): void;
}

/** Returns a function that logs the first of equal failures, and their end. */
function createReport(log: Log, what: string): (error?: unknown) => void {
  let failing: string | undefined;
  return (error) => {
    const message = error === undefined ? undefined : String(error);
    if (message === failing) return;
    failing = message;
    if (error === undefined) log.info(`${what} of the primary's log are read again`);
    else log.warn({ err: error }, `${what} of the primary's log cannot be read; trying again`);
  };
}

export function startPoller(fetcher: LogFetcher, deps: PollerDependencies): Poller {
  const { clock, log, applied } = deps;
  let isStopped = false;
  let isAgain = false;
  let timer: Timer | undefined;
  let polling: Promise<void> | undefined;
  let levels: Promise<void> | undefined;
  let levelsAt = Number.NEGATIVE_INFINITY;
  const reportNewest = createReport(log, "the newest files");
  const reportMerged = createReport(log, "merged files");

  async function fetchLevels(): Promise<void> {
    levelsAt = clock.monotonic();
    try {
      await fetcher.fetchLevels(applied());
      reportMerged();
    } catch (error) {
      reportMerged(error);
    }
    levels = undefined;
  }

  function fetchLevelsIfDue(): void {
    const isHole = fetcher.hasHole(applied());
    const pauseMs = isHole ? HOLE_MS : LEVELS_MS;
    if (isStopped || levels || deps.isRestoring()) return;
    if (clock.monotonic() - levelsAt >= pauseMs) levels = fetchLevels();
  }

  async function poll(): Promise<void> {
    let isPartial = false;
    do {
      isAgain = false;
      try {
        const listing = await fetcher.fetchNew(applied());
        isPartial = listing.isPartial;
        reportNewest();
        deps.onListing(listing);
      } catch (error) {
        reportNewest(error);
      }
    } while (isAgain && !isStopped);
    fetchLevelsIfDue();
    polling = undefined;
    if (!isStopped) timer = clock.after(isPartial ? BATCH_MS : deps.intervalMs(), pollNow);
  }

  function pollNow(): void {
    isAgain = true;
    if (polling || isStopped) return;
    timer?.cancel();
    polling = poll();
  }

  levels = fetchLevels();
  // Merged files first, so that only those of the newest that they lack are downloaded.
  polling = levels.then(poll);
  return {
    pollNow,
    async stop() {
      isStopped = true;
      timer?.cancel();
      await polling;
      await levels;
    },
  };
}

/** Longest time in which a transaction in the folder is not applied, or an applied one not noted. */
const AHEAD_MS = 10_000;
/** Longest time in which the database is locked, missing or unreadable. */
const UNREADABLE_MS = 3_000;
/** Time after a repair in which another one shows that the first did not help. */
const REPEATED_MS = 30_000;
/** Time that a repair gets before the next one. */
const EFFECT_MS = 3_000;
/** Life of a process that did not fail at its start. */
const STARTED_MS = 2_000;
/** Least time between two starts, and between two restores. */
const RESTART_PAUSE_MS = 1_000;
const RESTORE_PAUSE_MS = 10_000;

/** State of a follower, at monotonic times. */
export interface FollowerHealth {
  /** Life of the process in ms, if it has ended. */
  endedAfterMs: number | undefined;
  /** Time since which the folder has a transaction that was not applied, without any progress. */
  aheadSince: number | undefined;
  readability: Readability;
  /** End of the last repair. */
  last: { kind: Repair; at: number } | undefined;
}

/** Repair of a follower: a new process, or a new database from the folder. */
type Repair = "restart" | "restore";

/**
 * Returns the repair that a follower needs now. A new process applies everything after the noted transaction again,
 * which also completes a half-written database. If that does not help, or the database is damaged, it is restored.
 */
export function neededRepair(health: FollowerHealth, now: number): Repair | undefined {
  const { last } = health;
  const kind = repairOf(health, now);
  if (kind === undefined || last === undefined) return kind;
  const isSame = kind === "restore" && last.kind === "restore";
  return now - last.at < (isSame ? RESTORE_PAUSE_MS : RESTART_PAUSE_MS) ? undefined : kind;
}

function repairOf(
  { endedAfterMs, aheadSince, readability, last }: FollowerHealth,
  now: number,
): Repair | undefined {
  if (readability.isDamaged) return "restore";
  const isRepeated = last !== undefined && now - last.at < REPEATED_MS;
  const next = isRepeated && last.kind === "restart" ? "restore" : "restart";
  if (endedAfterMs !== undefined) return endedAfterMs < STARTED_MS ? next : "restart";
  const hasLasted = (since: number | undefined, limitMs: number) =>
    since !== undefined &&
    now - Math.max(since, last?.at ?? since) >= (isRepeated ? EFFECT_MS : limitMs);
  const unreadableMs = readability.reason === "unsettled" ? AHEAD_MS : UNREADABLE_MS;
  if (!hasLasted(aheadSince, AHEAD_MS) && !hasLasted(readability.since, unreadableMs)) {
    return undefined;
  }
  return readability.reason === "missing" ? "restore" : next;
}
