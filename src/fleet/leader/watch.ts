import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { createSignal, type Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";
import { type Leader, type LeaderRecord, type LeaderStore, readLeader } from "./lease";

/** Time between two looks at the record. */
const LOOK_MS = 2 * SECOND_MS;
/** Time without a renewal after which the primary counts as silent: two renewals and a look. */
const SILENT_MS = 12 * SECOND_MS;

/** The leader record, as a replica sees it. */
export interface LeaderWatch {
  /** Newest record that was read; undefined before the first. */
  record(): LeaderRecord | undefined;
  /** True while the record is renewed. */
  isAlive(): boolean;
  /** Emitted with a record of another primary or log. */
  changed: Signal<LeaderRecord>;
  stop(): void;
}

/** Watches the leader record of a store. Errors of the store are logged. */
export function watchLeader(
  store: LeaderStore,
  { clock, log }: { clock: Clock; log: Log },
): LeaderWatch {
  const changed = createSignal<LeaderRecord>();
  let record: LeaderRecord | undefined;
  let etag: string | undefined;
  /** Monotonic time at which the newest tag was seen first. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  async function look(): Promise<void> {
    const askedAt = clock.monotonic();
    try {
      const leader = await readLeader(store);
      if (isStopped || !leader || leader.etag === etag) return;
      const before = record;
      // A record may be old when it is seen first.
      if (etag !== undefined) renewedAt = askedAt;
      etag = leader.etag;
      record = leader.record;
      if (before?.prefix !== record.prefix || before.address !== record.address) {
        changed.emit(record);
      }
    } catch (error) {
      log.warn({ err: error }, "the record of the primary cannot be read; trying again");
    } finally {
      if (!isStopped) clock.after(LOOK_MS, () => void look());
    }
  }

  void look();
  return {
    record: () => record,
    isAlive: () => clock.monotonic() - renewedAt < SILENT_MS && record?.released === false,
    changed,
    stop() {
      isStopped = true;
    },
  };
}

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

interface RecordWatch {
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
