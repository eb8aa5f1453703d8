import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type Timer, within } from "../../base/clock";
import type { Log } from "../../base/log";
import { createSignal, type Signal } from "../../base/signal";
import { createFollowedDb, type FollowedDb, type Txid } from "../../db/followed-database";
import { createFollower, type Poller, startPoller } from "./follower";
import { createLogFetcher, type Listing, type LogFetcher, type LogSource } from "./log-fetcher";
import { findReplicaFile } from "./replica-file";

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
