import type { Alarms } from "../../features/alarms/alarms";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { plural } from "../../base/text";
import { freePrefix, type Lease, nextPrefix } from "../leader/lease";
import type { FleetStore } from "../store";
import { levelPrefix, type Replication } from "./replication";
import { auditLog } from "./restore";

/** Interval of looks at the upload, and number of looks from one audit to the next. */
const LOOK_MS = 10_000;
const LOOKS_PER_AUDIT = 6;
/** Time without an upload after which there is an alarm. */
const STALLED_MS = 30_000;
/** Longest wait for an upload, in ms. */
const UPLOAD_MS = 5_000;

interface LogWatchDependencies {
  clock: Clock;
  log: Log;
  alarms: Pick<Alarms, "raise" | "clear">;
  lease: Lease;
  replication: Replication;
  store: FleetStore;
}

/** Watches the upload of the log, and once a minute checks that a restore from the store reaches its end. */
export function watchLog(deps: LogWatchDependencies): { stop(): Promise<void> } {
  const { alarms, clock, lease, log, replication, store } = deps;
  let uploadedAt = clock.monotonic();
  let looks = 0;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    looks += 1;
    let txid: number;
    try {
      txid = await replication.sync(UPLOAD_MS);
    } catch (error) {
      const seconds = Math.round((clock.monotonic() - uploadedAt) / 1_000);
      if (seconds * 1_000 < STALLED_MS) return;
      const reason = (error as Error).message;
      alarms.raise("upload_stalled", `Nothing was uploaded for ${seconds} s: ${reason}`);
      return;
    }
    uploadedAt = clock.monotonic();
    alarms.clear("upload_stalled");
    // An earlier change of the record may have failed.
    if (replication.prefix !== lease.record.prefix) await name(replication.prefix);
    // Writes that were acknowledged before their upload are in the store now.
    if (replication.prefix === lease.record.prefix) alarms.clear("durability_local");
    if (looks % LOOKS_PER_AUDIT === 0) await audit(txid);
  }

  async function audit(until: number): Promise<void> {
    const outcome = await auditLog({
      store: store.files,
      prefix: replication.prefix,
      levelPrefix: (prefix, level) => levelPrefix(store.litestream.store, prefix, level),
      localFiles: replication.localFiles(),
      until,
    });
    if (outcome.kind === "whole") return alarms.clear("log_hole");
    if (outcome.kind === "filled") {
      const files = plural(outcome.files, "file");
      return alarms.raise("log_hole", `The log lacked ${files}, which were uploaded again.`);
    }
    // An earlier process may have begun the next one and ended before it was named.
    const next = await freePrefix(store.files, nextPrefix(replication.prefix));
    alarms.raise(
      "log_hole",
      `The log ${replication.prefix} cannot be repaired from the files of this machine. A new one begins: ${next}.`,
    );
    await replication.moveTo(next);
    await replication.sync(UPLOAD_MS);
    await name(next);
  }

  async function name(prefix: string): Promise<void> {
    if (await lease.change({ prefix })) log.warn({ prefix }, "replicas read the new log");
  }

  const timer = clock.every(LOOK_MS, () => {
    if (!lease.isHeld()) return;
    looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, "the log could not be checked"))
      .finally(() => (looking = undefined));
  });
  return {
    async stop() {
      timer.cancel();
      await looking;
    },
  };
}
