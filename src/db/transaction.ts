import type { Database } from "bun:sqlite";
import type { Log } from "../base/log";
import type { StatementCache } from "./statement-cache";
import type { Tx } from "./statements";

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

export type Outcome = { value: unknown } | { error: unknown };

/** A transaction shared by callbacks, each in a savepoint: a failed one is rolled back alone. */
export interface SharedTransaction {
  /** Throws if the database is locked or cannot be written. */
  begin(): void;
  /** Runs one callback and adds its `afterCommit` functions to `effects`. */
  run(change: (tx: Tx) => unknown, effects: (() => void)[]): Outcome;
  /** Commits. Returns the error if that failed. */
  commit(): unknown;
  /** Returns true while it is open. SQLITE_FULL, SQLITE_IOERR and OR ROLLBACK end all of it. */
  isOpen(): boolean;
}

export function createSharedTransaction(
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
