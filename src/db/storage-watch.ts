import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock, Timer } from "../base/clock";
import type { Log } from "../base/log";
import { createSignal, type Signal } from "../base/signal";
import { STORAGE_FAULTS, type StorageFault, storageFaultOf } from "./errors";

/** Pause between two attempts to write while writing fails. */
const RETRY_MS = 1_000;
/** Time for which a stored change proves that further changes can be stored. */
const PROOF_MS = 2_000;

/** State of the database after the last reads and writes. */
export interface StorageState {
  /** Reason for which changes cannot be stored; undefined if they can. */
  fault: StorageFault | undefined;
  /** True if SQLite has found damage in the database file since the start. */
  isDamaged: boolean;
}

/** Tracks the results of reads and writes, and retries a write once a second while writes fail. */
export interface StorageWatch {
  state(): StorageState;
  /** Records a failed write. */
  writeFailed(error: unknown): void;
  /** Records an error of a statement. Only damage counts, since other errors may be the caller's. */
  onStatementError(error: unknown): void;
  /** Records a commit that wrote something. */
  stored(): void;
  /** Returns true if `state` needs no probe: a change was stored recently, or a fault is being retried. */
  isCurrent(): boolean;
  /** Runs `retry` once a second until it resolves to true. */
  retryUntilDone(): void;
  /** Emitted when a change is stored after failed ones. */
  recovered: Signal<void>;
  close(): void;
}

/** Creates a watch. `retry` tries to write and resolves to true if no further attempt is needed. */
export function createStorageWatch(
  clock: Clock,
  log: Log,
  retry: () => Promise<boolean>,
): StorageWatch {
  let fault: StorageFault | undefined;
  let isDamaged = false;
  let storedAt = Number.NEGATIVE_INFINITY;
  let timer: Timer | undefined;
  let isClosed = false;
  const recovered = createSignal<void>();

  function retryUntilDone(): void {
    if (timer || isClosed) return;
    timer = clock.after(RETRY_MS, () => {
      const tried = retry().catch((error: unknown) => {
        log.error({ err: error }, "a retry of a write failed; trying again in a second");
        return false;
      });
      void tried.then((isDone) => {
        timer = undefined;
        if (!isDone) retryUntilDone();
      });
    });
  }

  function onStatementError(error: unknown): void {
    if (isDamaged || storageFaultOf(error) !== "damaged") return;
    isDamaged = true;
    log.error({ err: error }, "the database is damaged: restore a backup with allclear restore");
  }

  return {
    state: () => ({ fault, isDamaged }),
    onStatementError,
    writeFailed(error) {
      onStatementError(error);
      const newFault = storageFaultOf(error);
      if (fault !== newFault) {
        log.error(
          { reason: STORAGE_FAULTS[newFault] },
          "changes cannot be stored; status pages are served read-only",
        );
      }
      fault = newFault;
      retryUntilDone();
    },
    stored() {
      storedAt = clock.monotonic();
      if (fault === undefined) return;
      fault = undefined;
      log.warn("changes are stored again");
      recovered.emit();
    },
    isCurrent: () => fault !== undefined || clock.monotonic() - storedAt < PROOF_MS,
    retryUntilDone,
    recovered,
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}

/** Space of a file system, in bytes. */
export interface DiskSpace {
  /** Space that this process can use. */
  freeBytes: number;
  totalBytes: number;
}

/** Reads the space of a database's file system. Undefined for a database in memory, or if it is unreadable. */
export async function readDiskSpace(database: string): Promise<DiskSpace | undefined> {
  if (database === ":memory:") return undefined;
  try {
    const { bavail, bfree, blocks, bsize } = await statfs(dirname(database));
    const free = process.getuid?.() === 0 ? bfree : bavail;
    return { freeBytes: free * bsize, totalBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}
