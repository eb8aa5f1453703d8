import { unavailable } from "../../base/errors";
import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { createSignal, type Signal } from "../../base/signal";
import type { Alarms } from "../../features/alarms/alarms";
import { isSameRun, type Leader, type LeaderRecord, readLeader, writeLeader } from "./record";
import type { LeaderStore } from "./signature";

/** Interval of renewals. */
const RENEW_MS = 5_000;
/** Pause after a failed renewal. */
const RETRY_MS = 1_000;
/** Time after the beginning of the last confirmed renewal in which no other node can take over. */
const HELD_MS = 10_000;
/** Difference between the two clocks of this machine after which it may have been paused. */
const JUMP_MS = 2_000;

/** Right of one process to write, check and send, for as long as the leader record is its own. */
export interface Lease {
  /** The record as this process last wrote it. */
  readonly record: LeaderRecord;
  /** True while this process may write, and begin checks, deliveries, mails and steps of the clock. */
  isHeld(): boolean;
  /** Throws `unavailable` unless the lease is held. */
  requireHeld(): void;
  /**
   * Reads the record. Resolves to it if it is still this process's own, and to undefined otherwise. Rejects if the
   * store does not answer.
   */
  confirm(): Promise<LeaderRecord | undefined>;
  /** Writes changes of the record. Resolves to false if it belongs to another process. */
  change(
    changes: Partial<Pick<LeaderRecord, "prefix" | "previous" | "released">>,
  ): Promise<boolean>;
  /** Time in ms until the process stops by itself; infinite if it does not. */
  leftMs(): number;
  /** Emitted once, when another process has written the record. */
  lost: Signal<void>;
  /** Emitted when the lease is held again after a pause. */
  regained: Signal<void>;
  /** Ends the renewals. Waits for one that is under way. */
  stop(): Promise<void>;
}

interface LeaseDependencies {
  store: LeaderStore;
  clock: Clock;
  log: Log;
  alarms: Pick<Alarms, "raise" | "clear">;
  /** True if another node takes over by itself when this one does not renew. */
  isAutomatic: boolean;
}

/**
 * Keeps the leader record that this process has just written; `writtenAt` is the beginning of that write on the
 * monotonic clock. With automatic failover the lease ends by itself 10 s after the beginning of the last confirmed
 * renewal, and while the wall clock has jumped against the monotonic one, since the machine may have been paused.
 */
export function holdLease(
  { store, clock, log, alarms, isAutomatic }: LeaseDependencies,
  written: Leader,
  writtenAt: number,
): Lease {
  const lost = createSignal<void>();
  const regained = createSignal<void>();
  let leader = written;
  let renewedAt = writtenAt;
  let offset = clock.now() - clock.monotonic();
  let isLost = false;
  let isStopped = false;
  let wasHeld = true;
  let timer: Timer | undefined;
  /** The last write of the record. Writes follow each other, since each needs the entity tag of the one before. */
  let writing: Promise<unknown> = Promise.resolve();

  const hasJumped = () => Math.abs(clock.now() - clock.monotonic() - offset) > JUMP_MS;

  function isHeld(): boolean {
    if (isLost || !isAutomatic) return !isLost;
    return clock.monotonic() - renewedAt < HELD_MS && !hasJumped();
  }

  function lose(): void {
    if (isLost) return;
    isLost = true;
    timer?.cancel();
    log.error({ term: leader.record.term }, "another node is the primary; this one has stopped");
    lost.emit();
  }

  async function write(changes: Partial<LeaderRecord>): Promise<boolean> {
    if (isLost) return false;
    const record = { ...leader.record, ...changes, renewal: leader.record.renewal + 1 };
    const beganAt = clock.monotonic();
    const beganOffset = clock.now() - beganAt;
    const next = await writeLeader(store, leader, record);
    if (next === "changed") {
      lose();
      return false;
    }
    leader = next;
    // Other nodes may have waited since an earlier attempt: only another write shows when the lease begins again.
    if (next.isFound) return write(changes);
    renewedAt = beganAt;
    offset = beganOffset;
    alarms.clear("lease_renewal");
    return true;
  }

  function change(changes: Partial<LeaderRecord>): Promise<boolean> {
    const next = writing.catch(() => {}).then(() => write(changes));
    writing = next;
    return next;
  }

  async function renew(): Promise<void> {
    let waitMs = RENEW_MS;
    const wasPaused = !isHeld();
    try {
      await change({});
      if (isHeld() && (wasPaused || !wasHeld)) regained.emit();
      wasHeld = isHeld();
    } catch (error) {
      waitMs = RETRY_MS;
      wasHeld = isHeld();
      const consequence = isAutomatic ? " and stops after 10 s" : "";
      alarms.raise(
        "lease_renewal",
        `The primary cannot renew its record${consequence}: ${(error as Error).message}`,
      );
    }
    schedule(waitMs);
  }

  function schedule(waitMs: number): void {
    if (isLost || isStopped) return;
    timer = clock.after(waitMs, () => void renew());
  }

  schedule(RENEW_MS);
  return {
    get record() {
      return leader.record;
    },
    isHeld,
    requireHeld() {
      if (!isHeld()) throw notPrimary();
    },
    async confirm() {
      if (isLost) return undefined;
      const current = await readLeader(store);
      if (current && isSameRun(current.record, leader.record)) return current.record;
      lose();
      return undefined;
    },
    change,
    leftMs() {
      if (isLost) return 0;
      return isAutomatic ? Math.max(0, renewedAt + HELD_MS - clock.monotonic()) : Infinity;
    },
    lost,
    regained,
    async stop() {
      isStopped = true;
      timer?.cancel();
      await writing.catch(() => {});
    },
  };
}

/** Error of a write while another node may be the primary. */
export function notPrimary(): Error {
  return unavailable("This server is not the primary now, so nothing was changed. Try again.", 5);
}
