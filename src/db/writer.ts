import type { Database } from "bun:sqlite";
import { unavailable } from "../errors/problem";
import type { Clock, Timer } from "../kernel/clock";
import type { Log } from "../kernel/log";
import { isBusy, isResourceFailure } from "./sqlite-errors";
import type { StatementCache, Tx } from "./statements";

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

export interface Writer {
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

  function flush(): void {
    while (queue.length > 0) {
      if (!tryBegin()) return;
      const { outcomes, failure } = runBatch();
      settle(outcomes, failure ?? tryCommit());
    }
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
    const startedAt = performance.now();
    while (outcomes.length < BATCH_CALLBACKS && performance.now() - startedAt < BATCH_MS) {
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
    const tx = {
      statements,
      isOpen: true,
      afterCommit: (effect: () => void) => {
        job.effects.push(effect);
      },
    };
    try {
      savepoint.run();
    } catch (error) {
      return { job, error };
    }
    isRunning = true;
    try {
      const value = job.change(tx);
      if (isThenable(value)) {
        throw new Error(
          "the callback of db.write must be synchronous, and this one gave a promise",
        );
      }
      if (sqlite.inTransaction) release.run();
      return { job, value };
    } catch (error) {
      if (sqlite.inTransaction) {
        rollbackToSavepoint.run();
        release.run();
      }
      return { job, error };
    } finally {
      tx.isOpen = false;
      isRunning = false;
    }
  }

  /** Commits, and answers the error if that failed. */
  function tryCommit(): unknown {
    try {
      commit.run();
      return undefined;
    } catch (error) {
      if (sqlite.inTransaction) rollback.run();
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
    for (const outcome of outcomes) {
      if ("error" in outcome) {
        const { error } = outcome;
        outcome.job.reject(isResourceFailure(error) ? notStored(error) : error);
        continue;
      }
      for (const effect of outcome.job.effects) {
        try {
          effect();
        } catch (error) {
          log.error({ err: error }, "an effect after a commit failed");
        }
      }
      outcome.job.resolve(outcome.value);
    }
  }

  function refuse(jobs: Job[], cause: unknown): void {
    if (jobs.length === 0) return;
    log.error({ err: cause, callbacks: jobs.length }, "changes could not be stored");
    for (const job of jobs) job.reject(notStored(cause));
  }

  return {
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
      flush();
      refuse(queue.splice(0), new Error("the database was closed"));
      for (const statement of [begin, commit, rollback, savepoint, release, rollbackToSavepoint]) {
        statement.finalize();
      }
    },
  };
}

function notStored(cause: unknown): Error {
  return unavailable("The change could not be stored. Nothing was written; try again.", 5, cause);
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}
