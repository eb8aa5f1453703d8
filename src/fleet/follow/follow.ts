import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createFollowedDb, type Txid } from "../../db/followed-database";
import { type Timer, within } from "../../base/clock";
import { createSignal } from "../../base/signal";
import { createAsOf } from "./as-of";
import { createFollower } from "./follower";
import { createLogFetcher, type LogFetcher } from "./log-fetcher";
import type { Following, FollowOptions } from "./model";
import { type Poller, startPoller } from "./poller";
import { findReplicaFile } from "./replica-file";

export type { Following, FollowOptions, FollowState } from "./model";

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
