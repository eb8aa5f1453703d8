import type { Txid } from "../../db/followed-database";
import type { Listing } from "./log-fetcher";

/** Times up to which everything in the store is known to be applied. */
export interface Confirmed {
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
