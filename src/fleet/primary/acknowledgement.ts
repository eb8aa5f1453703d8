import type { Db } from "../../db/database";
import type { NewId } from "../../base/ids";
import type { Txid } from "../../db/followed-database";
import type { Clock } from "../../base/clock";
import type { Alarms } from "../../features/alarms/alarms";
import { type Lease, notPrimary } from "../leader/lease";
import type { Replication } from "../log/replication";

/** Longest wait of a write for the store. */
const WAIT_MS = 2_000;
/** Pause between two attempts of a round. */
const PAUSE_MS = 100;

/** Last uploaded transaction; undefined if what was committed is on this machine only. */
export type Uploaded = Txid | undefined;

export interface Acknowledgement {
  /**
   * Waits until all that is committed is uploaded, and the leader record was read afterwards and is this process's own.
   * Resolves to the last uploaded transaction, or to undefined if the store does not answer within two seconds. Rejects
   * with `unavailable` if another node is the primary: the write may be missing there.
   */
  wait(): Promise<Uploaded>;
  /**
   * Waits until the row with an id is in the store, for two seconds at most. Does not wait if a round has begun since
   * the row was committed and has succeeded, or if the store has not answered for two seconds since. Rejects with
   * `unavailable` if another node is the primary.
   */
  waitForRow(id: string): Promise<void>;
  /** Writes that were acknowledged without an upload. */
  readonly localWrites: number;
}

/** Beginning of a round. What was committed before is in the store once the round has succeeded. */
interface Beginning {
  /** Sorts after the ids that this process had created. They are committed in the turn in which they are created. */
  order: string;
  /** Changes with each commit of another process, whose ids may be older than their commit. */
  foreignVersion: number;
}

interface AcknowledgementDependencies {
  ctx: { newId: NewId; db: Pick<Db, "foreignVersion"> };
  clock: Clock;
  lease: Lease;
  replication: Replication;
  alarms: Pick<Alarms, "raise" | "clear">;
}

/** Acknowledges writes. One round serves all that wait when it begins; those that come later share the next one. */
export function createAcknowledgement({
  ctx,
  clock,
  lease,
  replication,
  alarms,
}: AcknowledgementDependencies): Acknowledgement {
  let running: Promise<Uploaded> | undefined;
  let next: Promise<Uploaded> | undefined;
  let localWrites = 0;
  /** Beginning of the newest round, and of the newest one that has succeeded. */
  let begun: Beginning | undefined;
  let uploaded: Beginning | undefined;
  /** Sorts after the ids for which the store has not answered in time. Empty once it has answered. */
  let overdueOrder = "";

  /** Resolves once all is uploaded and the record is this process's own, or to undefined after the time limit. */
  async function round(): Promise<Uploaded> {
    const beginning = {
      order: orderOf(ctx.newId("dlv")),
      foreignVersion: ctx.db.foreignVersion(),
    };
    begun = beginning;
    const until = clock.monotonic() + WAIT_MS;
    for (let leftMs = WAIT_MS; leftMs > 0; leftMs = until - clock.monotonic()) {
      try {
        const { prefix } = replication;
        const txid = await replication.sync(leftMs);
        const record = await lease.confirm();
        if (!record) throw notPrimary();
        // Nobody would read what was uploaded to another prefix.
        if (record.prefix === prefix && replication.prefix === prefix) {
          uploaded = beginning;
          overdueOrder = "";
          return txid;
        }
      } catch (error) {
        if (!lease.isHeld()) throw error;
      }
      await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve));
    }
    return undefined;
  }

  /** Joins a round that has not begun yet. */
  function join(): Promise<Uploaded> {
    next ??= (running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        next = undefined;
        running = round().finally(() => (running = undefined));
        return running;
      });
    return next;
  }

  function isBefore(id: string, beginning: Beginning | undefined): boolean {
    return (
      beginning !== undefined &&
      orderOf(id) < beginning.order &&
      ctx.db.foreignVersion() === beginning.foreignVersion
    );
  }

  /** Returns the first round that uploads a row. If the running one fails, that is the next one. */
  function roundFor(id: string): Promise<Uploaded> {
    if (!running || !isBefore(id, begun)) return join();
    return running.then((txid) => txid ?? join());
  }

  /** Resolves to undefined if a round has not succeeded within the time limit. */
  async function inTime(begin: () => Promise<Uploaded>): Promise<Uploaded> {
    lease.requireHeld();
    const { promise: overdue, resolve } = Promise.withResolvers<Uploaded>();
    const timer = clock.after(WAIT_MS, () => resolve(undefined));
    let txid: Uploaded;
    try {
      const joined = begin();
      // Its error is that of the lease, which is tested below.
      joined.catch(() => {});
      txid = await Promise.race([joined, overdue]);
      lease.requireHeld();
    } catch {
      throw notPrimary();
    } finally {
      timer.cancel();
    }
    if (txid === undefined) {
      alarms.raise(
        "durability_local",
        `The fleet store has not answered within ${WAIT_MS / 1_000} s, so writes are on one machine only.`,
      );
    } else alarms.clear("durability_local");
    return txid;
  }

  return {
    async wait() {
      const txid = await inTime(join);
      if (txid === undefined) localWrites += 1;
      return txid;
    },
    async waitForRow(id) {
      lease.requireHeld();
      if (isBefore(id, uploaded) || orderOf(id) < overdueOrder) return;
      const order = orderOf(ctx.newId("dlv"));
      const txid = await inTime(() => roundFor(id));
      // Else each of the connections for mails would send one in two seconds until the store answers.
      if (txid === undefined && order > overdueOrder) overdueOrder = order;
    },
    get localWrites() {
      return localWrites;
    },
  };
}

/** Returns the part of an id that sorts by creation time, also among objects of different kinds. */
function orderOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}
