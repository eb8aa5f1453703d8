/*
 * The copy of the database that a replica reads. It follows the log in the store, and is restored again if it cannot.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Timer, within } from "../../base/clock";
import type { Log } from "../../base/log";
import { createSignal, type Signal } from "../../base/signal";
import {
  createFollowedDb,
  type FollowedDb,
  type Readability,
  readTxid,
  type Txid,
} from "../../db/followed-database";
import { type ChildProcess, endLeftover } from "../log/replication";
import {
  findReplicaFile,
  nextReplicaPath,
  noteReplicaFile,
  type ReplicaFile,
  replicaPaths,
} from "../node";
import {
  createLogFetcher,
  followerPidFile,
  type Listing,
  type LogFetcher,
  type LogSource,
  removeFollowed,
  startFollower,
  startRestore,
} from "./log-fetcher";

/** Time between two looks at the followed files, and between two while they cannot be read. */
const WATCH_MS = 100;
const UNREADABLE_WATCH_MS = 10;
/** Time between two listings of the store, and without a sign of the primary. */
const POLL_MS = 5_000;
const POLL_ALONE_MS = 1_000;
/** Wait for what was copied last, before more of the end of a log is copied. */
const FINISH_LOOK_MS = 250;
/** Longest wait for requests of the store at the end. */
const STOP_MS = 2_000;
/** Pause between two attempts to begin with a prefix. */
const BEGIN_AGAIN_MS = 1_000;

/** Begins to follow. Reads are refused until there is a first version. */
export async function startFollowing(options: FollowOptions): Promise<Following> {
  const { clock, log, folder } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = findReplicaFile(folder);
  const db = createFollowedDb(found?.path ?? join(folder, "replica.db"), clock);
  const follower = await createFollower({ ...options, db }, found);
  const asOf = createAsOf();
  const changed = createSignal<void>();
  const waiters = new Set<() => void>();
  let prefix = options.prefix;
  let poller: Poller | undefined;
  let fetcher: LogFetcher | undefined;
  /** Fetcher of the log that is restored. */
  let next: LogFetcher | undefined;
  let newest: Txid = 0;
  let reach: Txid = 0;
  let seen: Txid = 0;
  let taken: Txid = 0;
  let aheadSince: number | undefined;
  let announced = 0;
  let watch: Timer | undefined;
  let beginning: Promise<void> | undefined;
  let isStopped = false;
  let hadHints = false;

  function fetcherOf(name: string): LogFetcher {
    return createLogFetcher(options, name, join(folder, "log", name));
  }

  /** Copies and applies the log of the prefix of the present database. */
  function poll(from: LogFetcher): void {
    fetcher = from;
    poller = startPoller(from, {
      clock,
      log,
      applied: follower.applied,
      isRestoring: follower.isRestoring,
      intervalMs: () => (options.hasHints() ? POLL_MS : POLL_ALONE_MS),
      onListing(listing) {
        if (fetcher !== from || follower.current()?.prefix !== prefix) return;
        newest = listing.newest;
        asOf.listed(listing, options.isPrimaryAlive());
        noteProgress();
      },
    });
  }

  /** Records what is applied, and what could be. */
  function noteProgress(): void {
    const applied = follower.applied();
    reach = fetcher?.reach(applied) ?? 0;
    if (applied !== seen || reach <= applied) aheadSince = undefined;
    if (reach > applied) aheadSince ??= clock.monotonic();
    seen = applied;
  }

  /**
   * Announces a new version. Only then is a transaction taken in: what is in memory, such as the keys, is older than
   * the file before.
   */
  function takeIn(): void {
    const versions = db.foreignVersion();
    const applied = db.txid() ?? 0;
    if (versions !== announced) {
      noteProgress();
      try {
        changed.emit();
        announced = versions;
      } catch (error) {
        log.error({ err: error }, "a change of the primary was not taken in; trying again");
      }
    }
    if (versions !== announced || db.readability().reason !== undefined) return;
    taken = applied;
    asOf.applied(applied);
    for (const waiter of waiters) waiter();
  }

  /** Takes in new versions, lists at once when hints cease, and repairs what does not go on. */
  function look(): void {
    takeIn();
    const hasHints = options.hasHints();
    if (hadHints && !hasHints) poller?.pollNow();
    hadHints = hasHints;
    follower.check(aheadSince);
    const isReadable = db.readability().reason === undefined;
    if (!isStopped) watch = clock.after(isReadable ? WATCH_MS : UNREADABLE_WATCH_MS, look);
  }

  function removeOtherLogs(name: string): void {
    try {
      for (const other of readdirSync(join(folder, "log"))) {
        if (other !== name) rmSync(join(folder, "log", other), { recursive: true, force: true });
      }
    } catch (error) {
      log.warn({ err: error }, "copies of old logs could not be removed");
    }
  }

  /** Restores the log of a prefix as soon as that is possible, unless another one is wanted meanwhile. */
  async function begin(name: string): Promise<void> {
    const from = fetcherOf(name);
    next = from;
    while (!isStopped && name === prefix) {
      try {
        await from.fetchLevels(0);
        await from.fetchNew(0);
        await poller?.stop();
        await follower.restore(name, from);
        if (isStopped) return;
        asOf.restart();
        poll(from);
        removeOtherLogs(name);
        return;
      } catch (error) {
        log.warn({ err: error }, "the database of the primary cannot be restored; trying again");
      }
      await new Promise<void>((resolve) => clock.after(BEGIN_AGAIN_MS, resolve));
    }
  }

  function changePrefix(name: string): void {
    if (name === prefix && (beginning || follower.current()?.prefix === name)) return;
    prefix = name;
    const own = (beginning ?? Promise.resolve())
      .then(() => begin(name))
      .finally(() => {
        // Another change may wait for this one.
        if (beginning === own) beginning = undefined;
      });
    beginning = own;
  }

  if (found?.prefix === prefix) {
    const from = fetcherOf(prefix);
    follower.resume(from);
    poll(from);
    removeOtherLogs(prefix);
  } else changePrefix(prefix);
  look();

  async function stop(): Promise<void> {
    isStopped = true;
    watch?.cancel();
    for (const from of [fetcher, next]) from?.close();
    // Requests of the store have deadlines, and their results are not needed.
    const requests = Promise.all([poller?.stop(), beginning]);
    await Promise.all([within(clock, STOP_MS, requests, () => {}), follower.stop()]);
    db.close();
  }

  async function waitFor(txid: Txid, limitMs: number): Promise<boolean> {
    takeIn();
    if (taken >= txid) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = () => taken >= txid && resolve(true);
    waiters.add(waiter);
    const timer = clock.after(limitMs, () => resolve(false));
    return promise.finally(() => {
      timer.cancel();
      waiters.delete(waiter);
    });
  }

  const readPrefix = () => follower.current()?.prefix;
  return {
    db,
    changed,
    confirmed: asOf.confirmed,
    prefix: readPrefix,
    txid: () => taken,
    state: () => ({
      ...asOf.confirmed(),
      ...follower.figures(),
      prefix: readPrefix(),
      txid: taken,
      newest,
      unsettled: db.readability().unsettled,
    }),
    hint(txid) {
      if (txid > newest) poller?.pollNow();
    },
    waitFor,
    changePrefix,
    async finish(limitMs) {
      const from = fetcher;
      if (!from) throw new Error("the replica has no database yet");
      await poller?.stop();
      const until = clock.monotonic() + limitMs;
      try {
        for (;;) {
          const listing = await from.fetchNew(follower.applied());
          if (await waitFor(listing.newest, FINISH_LOOK_MS)) break;
          if (clock.monotonic() < until) continue;
          throw new Error("the replica could not apply all that the store has");
        }
      } catch (error) {
        poll(from);
        throw error;
      }
      await stop();
      return db.path;
    },
    stop,
  };
}

/** Times up to which everything in the store is known to be applied. */
interface Confirmed {
  /** Begin of the last listing, while the primary was alive, of which everything is applied, in unix ms. */
  asOf: number | undefined;
  /** Begin of the last such listing, with or without the primary, on the monotonic clock. */
  confirmedAt: number | undefined;
}

/** Listings that wait for their last transaction. The oldest is given up first. */
const WAITING_MAX = 1_000;

/** Finds the time up to which a replica is complete. */
export function createAsOf() {
  let waiting: (Listing & { isAlive: boolean })[] = [];
  let applied: Txid = 0;
  let confirmed: Confirmed = { asOf: undefined, confirmedAt: undefined };

  function take(): void {
    const done = waiting.filter(({ newest }) => newest <= applied);
    if (done.length === 0) return;
    waiting = waiting.filter(({ newest }) => newest > applied);
    confirmed = {
      asOf: done.findLast(({ isAlive }) => isAlive)?.startedAt ?? confirmed.asOf,
      confirmedAt: done.at(-1)?.startedMonotonic,
    };
  }

  return {
    confirmed: () => confirmed,
    listed(listing: Listing, isAlive: boolean): void {
      waiting.push({ ...listing, isAlive });
      if (waiting.length > WAITING_MAX) waiting.shift();
      take();
    },
    applied(txid: Txid): void {
      applied = txid;
      take();
    },
    /** Forgets listings of another log, whose transactions have the same numbers, and what they confirmed of it. */
    restart(): void {
      waiting = [];
      applied = 0;
      confirmed = { ...confirmed, confirmedAt: undefined };
    },
  };
}

/** A copy of the primary's database that is kept up to date. */
export interface Following {
  readonly db: FollowedDb;
  /**
   * Emitted when there is a new version. Listeners read it, without waiting, before they return. If one throws, it is
   * emitted again.
   */
  changed: Signal<void>;
  /** Returns all figures. Requests read the ones below, for which nothing is copied. */
  state(): FollowState;
  /** Times up to which the present database is complete. */
  confirmed(): Confirmed;
  /** Prefix of the log that the present database has; undefined before the first restore. */
  prefix(): string | undefined;
  /** Last applied transaction; 0 if not known. */
  txid(): Txid;
  /** Looks for a transaction at once, since the primary has uploaded it. */
  hint(txid: Txid): void;
  /** Resolves to true when a transaction is applied, or to false after `limitMs`. */
  waitFor(txid: Txid, limitMs: number): Promise<boolean>;
  /** Restores the log of another prefix, and reads the present database until that is done. */
  changePrefix(prefix: string): void;
  /**
   * Applies all that the store has, then ends everything. Resolves to the path of the database, which is not open.
   * Rejects, and goes on to follow, if that takes longer than `limitMs` or the store cannot be read.
   */
  finish(limitMs: number): Promise<string>;
  /** Ends everything. The database is closed. */
  stop(): Promise<void>;
}

interface FollowState extends Confirmed {
  /** Prefix whose log is read; undefined before the first restore. */
  prefix: string | undefined;
  /** Last applied transaction, and the last one in the store; 0 if not known. */
  txid: Txid;
  newest: Txid;
  /** Reads that found a transaction half applied. */
  unsettled: number;
  restarts: number;
  restores: number;
}

interface FollowOptions extends LogSource {
  /** Prefix of the log in the store. */
  prefix: string;
  /** Folder for the copies of log and database. Only one process may use it. */
  folder: string;
  /** Path or name of Litestream's program. */
  program: string;
  clock: Clock;
  log: Log;
  /** True while the leader record changes. */
  isPrimaryAlive(): boolean;
  /** True while hints of the primary would arrive. */
  hasHints(): boolean;
}

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
async function createFollower(
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
interface Poller {
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

function startPoller(fetcher: LogFetcher, deps: PollerDependencies): Poller {
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
interface FollowerHealth {
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
