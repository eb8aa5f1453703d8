import { unavailable } from "../errors/problem";
import type { Clock, Timer } from "../kernel/clock";
import type { Log } from "../kernel/log";
import type { Connection } from "./connection";
import type { Outcome } from "./transaction";
import { isBusy, isResourceFailure, MovedError } from "./errors";
import type { Tx } from "./statements";
import type { StorageWatch } from "./storage-watch";

const BATCH_CALLBACKS = 256;
const BATCH_MS = 10;
const BUSY_RETRY_MS = 25;
/** Wait for another process's transaction after which a change is refused. */
const GIVE_UP_MS = 5_000;
/** Wait after which the database counts as locked, and a probe ends. */
const LOCKED_MS = 2_000;

interface Job {
  change: (tx: Tx) => unknown;
  effects: (() => void)[];
  /** True if it only tests whether the database can be written; not counted as a change. */
  isProbe: boolean;
  enqueuedAt: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** A callback that has run, and how it ended. */
interface Done {
  job: Job;
  outcome: Outcome;
}

/** Counters of a writer since its creation, and its queue. */
export interface WriterFigures {
  /** Transactions that were committed, and the changes in them. */
  batches: number;
  changes: number;
  /** Changes that could not be stored. What a callback refuses by itself is none of them. */
  refused: number;
  waiting: number;
}

export interface Writer {
  figures(): WriterFigures;
  write<T>(change: (tx: Tx) => T): Promise<T>;
  /** Rewrites the database header unchanged, and resolves once that is durable or has failed. */
  probe(): Promise<void>;
  /** Ends what waits: one last attempt to commit it, then refusals. Later writes are refused. */
  close(): void;
}

/**
 * Group commit. The callbacks that wait in one turn of the event loop run inside one
 * `BEGIN IMMEDIATE`, a savepoint each, and share its single fsync; one that throws rolls back alone.
 *
 * The writer never blocks the event loop: when another process holds the database, the batch stays
 * queued and is tried again by timer. A change that has waited five seconds is refused, a probe that
 * has waited two. While `connection` throws, since the database is not open, all are refused.
 */
export function createWriter(
  connection: () => Connection,
  watch: StorageWatch,
  clock: Clock,
  log: Log,
): Writer {
  let queue: Job[] = [];
  let isScheduled = false;
  let isClosed = false;
  let isInCallback = false;
  let retry: Timer | undefined;
  let batches = 0;
  let changes = 0;
  let refused = 0;

  function schedule(): void {
    if (isScheduled || retry) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      flush();
    });
  }

  /** Writes one batch. What does not fit waits for the next turn, so that requests are read between. */
  function flush(): void {
    writeBatch();
    if (queue.length > 0) schedule();
  }

  /** Answers false when nothing waits or the database cannot be had. */
  function writeBatch(): boolean {
    if (queue.length === 0 || !tryBegin()) return false;
    const { batch, failure, hasWritten } = runBatch();
    const rejection = failure ?? connection().transaction.commit();
    report(batch, rejection, hasWritten);
    settle(batch, rejection);
    return true;
  }

  /** Tells the watch how a batch ended. A commit with nothing in it says nothing about the disk. */
  function report(batch: Done[], rejection: unknown, hasWritten: boolean): void {
    if (rejection === undefined && hasWritten) watch.stored();
    else {
      const failed = batch.find(
        ({ outcome }) => "error" in outcome && isResourceFailure(outcome.error),
      );
      const cause = rejection ?? (failed?.outcome as { error: unknown } | undefined)?.error;
      if (isResourceFailure(cause)) watch.writeFailed(cause);
    }
  }

  /** Opens the transaction, or arranges a later attempt and answers false. */
  function tryBegin(): boolean {
    try {
      if (connection().isMoved()) throw new MovedError();
      connection().transaction.begin();
      return true;
    } catch (error) {
      if (!isBusy(error)) {
        watch.writeFailed(error);
        refuse(queue.splice(0), error);
        return false;
      }
      const now = clock.monotonic();
      const isOverdue = ({ isProbe, enqueuedAt }: Job) =>
        now - enqueuedAt >= (isProbe ? LOCKED_MS : GIVE_UP_MS);
      if (queue.some(({ enqueuedAt }) => now - enqueuedAt >= LOCKED_MS)) watch.writeFailed(error);
      const overdue = queue.filter(isOverdue);
      queue = queue.filter((job) => !isOverdue(job));
      refuse(overdue, error);
      if (queue.length > 0 && !isClosed) {
        retry = clock.after(BUSY_RETRY_MS, () => {
          retry = undefined;
          flush();
        });
      }
      return false;
    }
  }

  /**
   * Runs callbacks until the batch is full. A `failure` means that the whole transaction is gone;
   * `hasWritten`, that there is something to commit, without which a commit proves nothing.
   */
  function runBatch(): { batch: Done[]; failure: unknown; hasWritten: boolean } {
    const batch: Done[] = [];
    let hasWritten = false;
    const { statements, transaction } = connection();
    const startedAt = clock.monotonic();
    while (batch.length < BATCH_CALLBACKS && clock.monotonic() - startedAt < BATCH_MS) {
      const job = queue.shift();
      if (!job) break;
      const writtenBefore = statements.written;
      isInCallback = true;
      const outcome = transaction.run(job.change, job.effects);
      isInCallback = false;
      hasWritten ||= !("error" in outcome) && statements.written !== writtenBefore;
      batch.push({ job, outcome });
      // Another statement now would commit by itself: nothing more runs, everybody in the batch is refused.
      if (!transaction.isOpen()) {
        const error = "error" in outcome ? outcome.error : undefined;
        return {
          batch,
          failure: error ?? new Error("a callback ended the transaction that it shared"),
          hasWritten,
        };
      }
    }
    return { batch, failure: undefined, hasWritten };
  }

  /** Tells the callers. Only now, for a refusal too was judged on what had not been committed. */
  function settle(batch: Done[], failure: unknown): void {
    if (failure !== undefined) {
      refuse(
        batch.map(({ job }) => job),
        failure,
      );
      return;
    }
    batches += 1;
    for (const { job, outcome } of batch) {
      if ("error" in outcome) {
        if (isResourceFailure(outcome.error)) refuse([job], outcome.error);
        else job.reject(outcome.error);
        continue;
      }
      if (!job.isProbe) changes += 1;
      for (const effect of job.effects) runEffect(effect);
      job.resolve(outcome.value);
    }
  }

  function runEffect(effect: () => unknown): void {
    const failed = (error: unknown) => log.error({ err: error }, "an effect after a commit failed");
    try {
      const result = effect();
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  function refuse(jobs: Job[], cause: unknown): void {
    if (jobs.length === 0) return;
    const callbacks = jobs.filter(({ isProbe }) => !isProbe).length;
    refused += callbacks;
    if (callbacks > 0) log.error({ err: cause, callbacks }, "changes could not be stored");
    for (const job of jobs) job.reject(notStored(cause));
  }

  function enqueue<T>(change: (tx: Tx) => T, isProbe: boolean): Promise<T> {
    if (isInCallback) {
      throw new Error("db.write was called inside the callback of another");
    }
    if (isClosed) return Promise.reject(unavailable("The server is shutting down.", 5));
    return new Promise<T>((resolve, reject) => {
      queue.push({
        change,
        effects: [],
        isProbe,
        enqueuedAt: clock.monotonic(),
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      schedule();
    });
  }

  return {
    figures: () => ({ batches, changes, refused, waiting: queue.length }),
    write: (change) => enqueue(change, false),
    // The watch knows of its failure.
    probe: () => enqueue(() => connection().touch(), true).catch(() => {}),
    close() {
      isClosed = true;
      retry?.cancel();
      retry = undefined;
      while (writeBatch());
      refuse(queue.splice(0), new Error("the database was closed"));
    },
  };
}

/** Problem for the callers of `db.write`. It names no cause: `/readyz/write` and the log do. */
function notStored(cause: unknown): Error {
  return unavailable("The change could not be stored. Nothing was written; try again.", 5, cause);
}
