import type { Clock, Timer } from "../kernel/clock";
import type { Log } from "../kernel/log";
import { createSignal, type Signal } from "../kernel/signal";
import { STORAGE_FAULTS, type StorageFault, storageFaultOf } from "./errors";

/** Pause between two attempts to write while writing fails. */
const RETRY_MS = 1_000;
/** Age up to which a stored change proves that the next can be stored. */
const PROOF_MS = 2_000;

/** State of the database as the last reads and writes left it. */
export interface StorageState {
  /** Reason for which changes cannot be stored; undefined where they can. */
  fault: StorageFault | undefined;
  /** True if SQLite has found damage in the database file since the start. */
  isDamaged: boolean;
}

/** Follows what happens to reads and writes, and retries a write once a second while they fail. */
export interface StorageWatch {
  state(): StorageState;
  /** Records a write that was refused. */
  writeFailed(error: unknown): void;
  /** Records an error of any statement. Only damage counts: other errors are the caller's. */
  onStatementError(error: unknown): void;
  /** Records a commit that wrote something. */
  stored(): void;
  /** True if `state` needs no probe: a change was stored just now, or a fault is being retried. */
  isCurrent(): boolean;
  /** Runs `retry` once a second from now on until it answers that nothing is left to do. */
  retryUntilDone(): void;
  /** Emitted when a change is stored after some could not be. */
  recovered: Signal<void>;
  close(): void;
}

/** `retry` tries to write and answers true when no later retry is needed. */
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
      const found = storageFaultOf(error);
      if (fault !== found) {
        log.error(
          { reason: STORAGE_FAULTS[found] },
          "changes cannot be stored; status pages are served read-only",
        );
      }
      fault = found;
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
