import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { type Leader, readLeader } from "./record";
import type { LeaderStore } from "./signature";

/** Interval of looks at the record. */
const RECORD_LOOK_MS = 1_000;
/** Time without a renewal after which the primary has stopped by itself, with some reserve. */
const RECORD_SILENT_MS = 15_000;
/** Time by which each candidate lets the better ones go first. */
const RANK_MS = 2_000;

/** The leader record as a candidate sees it. */
export interface SeenRecord {
  /** Undefined if there is no record. */
  leader: Leader | undefined;
  /** Time on the monotonic clock at which this entity tag was seen first. */
  since: number;
}

export interface RecordWatch {
  /** Reads the record now. Rejects if the store does not answer. */
  look(): Promise<SeenRecord>;
  stop(): void;
}

interface WatchOptions {
  store: LeaderStore;
  clock: Clock;
  log: Log;
  /** Id of this node. */
  node: string;
  /** Number of candidates that have more of the log. */
  rank(): number;
  /** Called after each look that found the lease at its end. */
  onEnded(seen: SeenRecord): void;
}

/**
 * Watches the leader record. No clocks are compared: the lease is at its end if one entity tag was seen unchanged for
 * 15 seconds of this node's monotonic clock, or if the primary released it, and two more seconds have passed for each
 * better candidate.
 */
export function watchRecord({ store, clock, log, node, rank, onEnded }: WatchOptions): RecordWatch {
  let seen: SeenRecord | undefined;
  let timer: Timer | undefined;
  let isStopped = false;

  async function look(): Promise<SeenRecord> {
    const leader = await readLeader(store);
    if (!seen || seen.leader?.etag !== leader?.etag) {
      seen = { leader, since: clock.monotonic() };
    }
    return seen;
  }

  async function watch(): Promise<void> {
    try {
      const current = await look();
      if (!isStopped && hasLeaseEnded(current, { clock, node, rank: rank() })) onEnded(current);
    } catch (error) {
      // The primary could not renew its lease either, and does so when the store answers again.
      seen = undefined;
      log.warn({ err: error }, "the record of the primary cannot be read");
    }
    if (!isStopped) timer = clock.after(RECORD_LOOK_MS, () => void watch());
  }

  void watch();
  return {
    look,
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

/** True if the primary cannot hold its lease any more. One that released it lets others go first. */
export function hasLeaseEnded(
  { leader, since }: SeenRecord,
  { clock, node, rank = 0 }: { clock: Pick<Clock, "monotonic">; node: string; rank?: number },
): boolean {
  if (!leader) return false;
  const { record } = leader;
  const silentMs = record.released && record.node !== node ? 0 : RECORD_SILENT_MS;
  return clock.monotonic() - since >= silentMs + RANK_MS * rank;
}
