import type { Txid } from "../../db/followed-database";
import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import type { Listing, LogFetcher } from "./log-fetcher";

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
