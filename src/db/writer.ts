import type { Database } from "bun:sqlite";
import { unavailable } from "../errors/problem";
import type { Clock, Timer } from "../kernel/clock";
import type { Log } from "../kernel/log";
import { isBusy, isResourceFailure } from "./sqlite-errors";
import type { StatementCache, Tx } from "./statements";
import { OpenTransaction } from "./transaction";

const BATCH_CALLBACKS = 256;
const BATCH_MS = 10;
const BUSY_RETRY_MS = 25;
const BUSY_GIVE_UP_MS = 5_000;

interface Job {
  change: (tx: Tx) => unknown;
  effects: (() => void)[];
  enqueuedAt: number;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

type Outcome = { job: Job; value: unknown } | { job: Job; error: unknown };

/** What a writer did since it was made, and what waits for it. */
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
  /** Ends what waits: one last attempt to commit it, then refusals. Later writes are refused. */
  close(): void;
}

/**
 * Group commit. The callbacks that wait in one turn of the event loop run inside one
 * `BEGIN IMMEDIATE`, a savepoint each, and share its single fsync; one that throws rolls back alone.
 *
 * The writer never blocks the event loop: when another process holds the database, the batch stays
 * queued and is tried again by timer, and a callback that has waited five seconds is refused.
 */
export function createWriter(
  sqlite: Database,
  statements: StatementCache,
  clock: Clock,
  log: Log,
): Writer {
  let queue: Job[] = [];
  let isScheduled = false;
  let isRunning = false;
  let isClosed = false;
  let retry: Timer | undefined;
  let batches = 0;
  let changes = 0;
  let refused = 0;

  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");
  const rollback = sqlite.prepare("ROLLBACK");
  const savepoint = sqlite.prepare("SAVEPOINT callback");
  const release = sqlite.prepare("RELEASE callback");
  const rollbackToSavepoint = sqlite.prepare("ROLLBACK TO callback");

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
    const { outcomes, failure } = runBatch();
    settle(outcomes, failure ?? tryCommit());
    return true;
  }

  /** Opens the transaction, or arranges a later attempt and answers false. */
  function tryBegin(): boolean {
    try {
      begin.run();
      return true;
    } catch (error) {
      if (!isBusy(error)) {
        refuse(queue.splice(0), error);
        return false;
      }
      const now = clock.monotonic();
      const overdue = queue.filter((job) => now - job.enqueuedAt >= BUSY_GIVE_UP_MS);
      queue = queue.filter((job) => now - job.enqueuedAt < BUSY_GIVE_UP_MS);
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

  /** Runs callbacks until the batch is full. A `failure` means that the whole transaction is gone. */
  function runBatch(): { outcomes: Outcome[]; failure: unknown } {
    const outcomes: Outcome[] = [];
    const startedAt = clock.monotonic();
    while (outcomes.length < BATCH_CALLBACKS && clock.monotonic() - startedAt < BATCH_MS) {
      const job = queue.shift();
      if (!job) break;
      const outcome = runOne(job);
      outcomes.push(outcome);
      // SQLITE_FULL, SQLITE_IOERR and OR ROLLBACK end the whole transaction. Another statement now
      // would commit by itself, so nothing more runs and everybody in the batch is refused.
      if (!sqlite.inTransaction) {
        const error = "error" in outcome ? outcome.error : undefined;
        return {
          outcomes,
          failure: error ?? new Error("a callback ended the transaction that it shared"),
        };
      }
    }
    return { outcomes, failure: undefined };
  }

  function runOne(job: Job): Outcome {
    const tx = new OpenTransaction(sqlite, statements, job.effects);
    try {
      savepoint.run();
    } catch (error) {
      return { job, error };
    }
    isRunning = true;
    try {
      const value = job.change(tx);
      refusePromise(value);
      if (sqlite.inTransaction) release.run();
      return { job, value };
    } catch (error) {
      undo();
      return { job, error };
    } finally {
      tx.end();
      isRunning = false;
    }
  }

  /** Takes back what one callback did; where even that fails, the whole transaction. */
  function undo(): void {
    if (!sqlite.inTransaction) return;
    try {
      rollbackToSavepoint.run();
      release.run();
    } catch (error) {
      log.error({ err: error }, "a callback could not be rolled back alone");
      abandon();
    }
  }

  function abandon(): void {
    try {
      if (sqlite.inTransaction) rollback.run();
    } catch (error) {
      log.error({ err: error }, "a transaction could not be rolled back in good order");
    }
  }

  /** Commits, and answers the error if that failed. */
  function tryCommit(): unknown {
    try {
      commit.run();
      return undefined;
    } catch (error) {
      abandon();
      return error;
    }
  }

  /** Tells the callers. Only now, for a refusal too was judged on what had not been committed. */
  function settle(outcomes: Outcome[], failure: unknown): void {
    if (failure !== undefined) {
      refuse(
        outcomes.map((outcome) => outcome.job),
        failure,
      );
      return;
    }
    batches += 1;
    for (const outcome of outcomes) {
      if ("error" in outcome) {
        const { job, error } = outcome;
        if (isResourceFailure(error)) refuse([job], error);
        else job.reject(error);
        continue;
      }
      changes += 1;
      for (const effect of outcome.job.effects) runEffect(effect);
      outcome.job.resolve(outcome.value);
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
    refused += jobs.length;
    log.error({ err: cause, callbacks: jobs.length }, "changes could not be stored");
    for (const job of jobs) job.reject(notStored(cause));
  }

  return {
    figures: () => ({ batches, changes, refused, waiting: queue.length }),
    write<T>(change: (tx: Tx) => T): Promise<T> {
      if (isRunning) throw new Error("db.write was called inside the callback of another");
      if (isClosed) return Promise.reject(unavailable("The server is shutting down.", 5));
      return new Promise<T>((resolve, reject) => {
        queue.push({
          change,
          effects: [],
          enqueuedAt: clock.monotonic(),
          resolve: resolve as (value: unknown) => void,
          reject,
        });
        schedule();
      });
    },
    close() {
      isClosed = true;
      retry?.cancel();
      retry = undefined;
      while (writeBatch());
      refuse(queue.splice(0), new Error("the database was closed"));
    },
  };
}

function notStored(cause: unknown): Error {
  return unavailable("The change could not be stored. Nothing was written; try again.", 5, cause);
}

/**
 * An `async` callback would go on after its transaction, and a query that was built but not run is
 * a promise to Drizzle too. Its `then` is left alone: calling it would run the query.
 */
function refusePromise(value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  // What it still does ends in an error that nobody else waits for: its transaction is over.
  if (value instanceof Promise) value.catch(() => {});
  throw new Error("the callback of db.write must be synchronous, and this one gave a promise");
}
