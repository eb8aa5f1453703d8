import type { Clock } from "../../kernel/clock";
import type { Alarms } from "../../features/alarms";
import { type Lease, notPrimary } from "../leader/lease";
import type { Replication } from "../log/replication";

/** Longest wait of a write for the store. */
const WAIT_MS = 2_000;
/** Pause between two attempts of a round. */
const PAUSE_MS = 100;

/** Copies of a write when it is acknowledged: in the store, or on this machine only. */
export type Durability = "replicated" | "local";

export interface Acknowledgement {
  /**
   * Waits until all that is committed is uploaded, and the leader record was read afterwards and is this process's own.
   * Resolves to "local" if the store does not answer within two seconds. Rejects with `unavailable` if another node is
   * the primary: the write may be missing there.
   */
  wait(): Promise<Durability>;
  /** Writes that were acknowledged without an upload. */
  readonly localWrites: number;
}

interface AcknowledgementDependencies {
  clock: Clock;
  lease: Lease;
  replication: Replication;
  alarms: Pick<Alarms, "raise" | "clear">;
}

/** Acknowledges writes. One round serves all that wait when it begins; those that come later share the next one. */
export function createAcknowledgement({
  clock,
  lease,
  replication,
  alarms,
}: AcknowledgementDependencies): Acknowledgement {
  let running: Promise<boolean> | undefined;
  let next: Promise<boolean> | undefined;
  let localWrites = 0;

  /** Resolves to true once all is uploaded and the record is this process's own, to false after the time limit. */
  async function round(): Promise<boolean> {
    const until = clock.monotonic() + WAIT_MS;
    for (let leftMs = WAIT_MS; leftMs > 0; leftMs = until - clock.monotonic()) {
      try {
        const { prefix } = replication;
        await replication.sync(leftMs);
        const record = await lease.confirm();
        if (!record) throw notPrimary();
        // Nobody would read what was uploaded to another prefix.
        if (record.prefix === prefix && replication.prefix === prefix) return true;
      } catch (error) {
        if (!lease.isHeld()) throw error;
      }
      await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve));
    }
    return false;
  }

  /** Joins a round that has not begun yet. */
  function join(): Promise<boolean> {
    next ??= (running ?? Promise.resolve(true))
      .catch(() => true)
      .then(() => {
        next = undefined;
        running = round().finally(() => (running = undefined));
        return running;
      });
    return next;
  }

  return {
    async wait() {
      lease.requireHeld();
      const { promise: overdue, resolve } = Promise.withResolvers<boolean>();
      const timer = clock.after(WAIT_MS, () => resolve(false));
      try {
        const joined = join();
        // Its error is that of the lease, which is tested below.
        joined.catch(() => {});
        const isReplicated = await Promise.race([joined, overdue]);
        lease.requireHeld();
        if (isReplicated) {
          alarms.clear("durability_local");
          return "replicated";
        }
      } catch {
        throw notPrimary();
      } finally {
        timer.cancel();
      }
      localWrites += 1;
      alarms.raise(
        "durability_local",
        `The fleet store has not answered within ${WAIT_MS / 1_000} s, so writes are on one machine only.`,
      );
      return "local";
    },
    get localWrites() {
      return localWrites;
    },
  };
}
