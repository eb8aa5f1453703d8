import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { createSignal, type Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";
import { type LeaderRecord, readLeader } from "./record";
import type { LeaderStore } from "./signature";

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
