/*
 * The way to write: group commit, over a connection with its prepared statements and a transaction that callbacks
 * share.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { Clock, Timer } from "../base/clock";
import { unavailable } from "../base/errors";
import type { Log } from "../base/log";
import { isBusy, isResourceFailure, MovedError } from "./errors";
import { pragma, walOf } from "./open";
import { StatementCache, type Tx } from "./statements";
import type { StorageWatch } from "./storage-watch";

const BATCH_CALLBACKS = 256;
const BATCH_MS = 10;
const BUSY_RETRY_MS = 25;
/** Longest wait of a change for the transaction of another process. */
const GIVE_UP_MS = 5_000;
/** Longest wait of a probe. After this wait, the database counts as locked. */
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

/** A callback that has run, with its outcome. */
interface Done {
  job: Job;
  outcome: Outcome;
}

/** Counters of a writer since its creation, and its queue. */
export interface WriterFigures {
  /** Committed transactions. */
  batches: number;
  /** Changes in committed transactions. */
  changes: number;
  /** Changes that could not be stored, without those that a callback rejected. */
  rejected: number;
  /** Length of the queue. */
  waiting: number;
}

interface Writer {
  figures(): WriterFigures;
  write<T>(change: (tx: Tx) => T): Promise<T>;
  /** Writes without a change. Resolves once that is durable or has failed. */
  probe(): Promise<void>;
  /** Tries to commit the queue, and rejects the rest of it and all later writes. */
  close(): void;
}

/**
 * Creates a writer with group commit: the callbacks that wait in one turn of the event loop run inside one
 * `BEGIN IMMEDIATE`, each in a savepoint, and share one fsync. A failed callback is rolled back alone.
 *
 * The writer never blocks the event loop: while another process locks the database, the batch stays in the
 * queue and is retried by timer. Changes are rejected after five seconds, probes after two, and all while
 * `connection` throws, since the database is not open.
 */
export function createWriter(
  connection: () => DbConnection,
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
  let rejected = 0;

  function schedule(): void {
    if (isScheduled || retry) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      flush();
    });
  }

  /** Writes one batch. The rest waits for the next turn, so that requests are read in between. */
  function flush(): void {
    writeBatch();
    if (queue.length > 0) schedule();
  }

  /** Returns false if the queue is empty or the transaction could not begin. */
  function writeBatch(): boolean {
    if (queue.length === 0 || !tryBegin()) return false;
    const { batch, failure, hasWritten } = runBatch();
    const rejection = failure ?? connection().transaction.commit();
    report(batch, rejection, hasWritten);
    settle(batch, rejection);
    return true;
  }

  /** Reports the result of a batch to the watch. A commit without a change proves nothing. */
  function report(batch: Done[], rejection: unknown, hasWritten: boolean): void {
    if (rejection === undefined && hasWritten) return watch.stored();
    const failed = batch.find(
      ({ outcome }) => "error" in outcome && isResourceFailure(outcome.error),
    );
    const cause = rejection ?? (failed?.outcome as { error: unknown } | undefined)?.error;
    if (isResourceFailure(cause)) watch.writeFailed(cause);
  }

  /** Begins the transaction. Returns false if that failed; a locked database is retried later. */
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
   * Runs callbacks until the batch is full. With a `failure`, the whole transaction was rolled back.
   * `hasWritten` is true if there are changes to commit.
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
      // Another statement would now commit by itself: the batch ends, and all of it is rejected.
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

  /** Answers the callers. Errors of callbacks wait too, since they may depend on uncommitted changes. */
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
    rejected += callbacks;
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
    figures: () => ({ batches, changes, rejected, waiting: queue.length }),
    write: (change) => enqueue(change, false),
    // The watch already has the error.
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

/** Returns the Problem for callers of `db.write`. Only `/readyz/write` and the log name the cause. */
function notStored(cause: unknown): Error {
  return unavailable("The change could not be stored. Nothing was written; try again.", 5, cause);
}

/** An open connection with its prepared statements. */
export interface DbConnection {
  readonly sqlite: Database;
  readonly statements: StatementCache;
  readonly transaction: SharedTransaction;
  /** True if no other process can use the database, since it was opened without shared memory. */
  readonly isExclusive: boolean;
  /** Returns SQLite's count of commits by other connections. Throws while the database cannot be read. */
  dataVersion(): number;
  /** Rewrites the database header unchanged, to test the disk. Called inside a transaction. */
  touch(): void;
  /** Returns true if the data directory no longer contains the files that this connection has open. */
  isMoved(): boolean;
}

/** Prepares a connection. `onStatementError` is called with every error of a statement. */
export function connect(
  sqlite: Database,
  log: Log,
  onStatementError: (error: unknown) => void,
): DbConnection {
  const statements = new StatementCache(sqlite, onStatementError);
  const version = sqlite.prepare<{ data_version: number }, []>("PRAGMA data_version");
  const userVersion = Number(pragma(sqlite, "user_version"));
  const isInMemory = sqlite.filename === ":memory:";
  return {
    sqlite,
    statements,
    transaction: createSharedTransaction(sqlite, statements, log),
    isExclusive: isExclusive(sqlite),
    dataVersion: () => version.get()?.data_version ?? 0,
    touch() {
      sqlite.run(`PRAGMA user_version = ${userVersion}`);
      statements.written += 1;
    },
    isMoved: isInMemory ? () => false : createMoveCheck(sqlite.filename, walOf(sqlite.filename)),
  };
}

/**
 * Returns a check that is true once one of the paths leads to another file than now, such as after the
 * data directory was moved, deleted or replaced. Paths without a file are ignored.
 */
export function createMoveCheck(...paths: string[]): () => boolean {
  const identities = paths.flatMap((path) => {
    const identity = identityOf(path);
    return identity === undefined ? [] : [{ path, identity }];
  });
  return () => identities.some(({ path, identity }) => isAnother(path, identity));
}

function isAnother(path: string, identity: string): boolean {
  try {
    return identityOf(path) !== identity;
  } catch {
    // An error of the disk is reported by the write.
    return false;
  }
}

function identityOf(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  return file && `${file.dev}:${file.ino}`;
}

/** The transaction of one callback of `db.write`. Every use throws after the callback or a rollback. */
class OpenTransaction implements Tx {
  readonly #sqlite: Database;
  readonly #statements: StatementCache;
  readonly #effects: (() => void)[];
  readonly #work: (() => void)[] = [];
  #isEnded = false;

  constructor(sqlite: Database, statements: StatementCache, effects: (() => void)[]) {
    this.#sqlite = sqlite;
    this.#statements = statements;
    this.#effects = effects;
  }

  get statements(): StatementCache {
    this.#requireOpen();
    return this.#statements;
  }

  atEnd(work: () => void): void {
    this.#requireOpen();
    this.#work.push(work);
  }

  /** Runs the work of `atEnd`, and the work that it adds. */
  finish(): void {
    for (const work of this.#work) work();
  }

  afterCommit(effect: () => void): void {
    this.#requireOpen();
    this.#effects.push(effect);
  }

  end(): void {
    this.#isEnded = true;
  }

  // A statement without its transaction would commit by itself.
  #requireOpen(): void {
    if (this.#isEnded) throw new Error("a transaction was used after its callback returned");
    if (!this.#sqlite.inTransaction) {
      throw new Error("a transaction was used after an error had ended it");
    }
  }
}

type Outcome = { value: unknown } | { error: unknown };

/** A transaction shared by callbacks, each in a savepoint: a failed one is rolled back alone. */
interface SharedTransaction {
  /** Throws if the database is locked or cannot be written. */
  begin(): void;
  /** Runs one callback and adds its `afterCommit` functions to `effects`. */
  run(change: (tx: Tx) => unknown, effects: (() => void)[]): Outcome;
  /** Commits. Returns the error if that failed. */
  commit(): unknown;
  /** Returns true while it is open. SQLITE_FULL, SQLITE_IOERR and OR ROLLBACK end all of it. */
  isOpen(): boolean;
}

function createSharedTransaction(
  sqlite: Database,
  statements: StatementCache,
  log: Log,
): SharedTransaction {
  const begin = sqlite.prepare("BEGIN IMMEDIATE");
  const commit = sqlite.prepare("COMMIT");
  const rollback = sqlite.prepare("ROLLBACK");
  const savepoint = sqlite.prepare("SAVEPOINT callback");
  const release = sqlite.prepare("RELEASE callback");
  const rollbackToSavepoint = sqlite.prepare("ROLLBACK TO callback");

  /** Rolls back one callback, or the whole transaction if that fails. */
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

  return {
    begin: () => void begin.run(),

    run(change, effects) {
      const tx = new OpenTransaction(sqlite, statements, effects);
      try {
        savepoint.run();
      } catch (error) {
        return { error };
      }
      try {
        const value = change(tx);
        requireSynchronous(value);
        if (sqlite.inTransaction) tx.finish();
        if (sqlite.inTransaction) release.run();
        return { value };
      } catch (error) {
        undo();
        return { error };
      } finally {
        tx.end();
      }
    },

    commit() {
      try {
        commit.run();
        return undefined;
      } catch (error) {
        abandon();
        return error;
      }
    },

    isOpen: () => sqlite.inTransaction,
  };
}

/**
 * Throws for an `async` callback, which would continue after its transaction, and for a query of Drizzle
 * that was not run. Its `then` is not called, since that would run the query.
 */
function requireSynchronous(value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  // It will fail, since its transaction is over, and nothing else handles the error.
  if (value instanceof Promise) value.catch(() => {});
  throw new Error("the callback of db.write must be synchronous, and this one gave a promise");
}

/** Returns true if no other connection can use the database. */
function isExclusive(sqlite: Database): boolean {
  return pragma(sqlite, "locking_mode") === "exclusive";
}
