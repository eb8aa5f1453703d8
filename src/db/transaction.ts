import type { Database } from "bun:sqlite";
import type { Log } from "../kernel/log";
import type { StatementCache, Tx } from "./statements";

/** A transaction as one callback of `db.write` has it: every use throws once it is over or gone. */
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

  /** Runs the work that was left for the end, and what that adds to it. */
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

  /** A statement without its transaction would commit by itself. */
  #requireOpen(): void {
    if (this.#isEnded) throw new Error("a transaction was used after its callback returned");
    if (!this.#sqlite.inTransaction) {
      throw new Error("a transaction was used after an error had ended it");
    }
  }
}

export type Outcome = { value: unknown } | { error: unknown };

/** A transaction that callbacks share, a savepoint each: one that throws is rolled back alone. */
export interface SharedTransaction {
  /** Throws where the database cannot be had. */
  begin(): void;
  /** Runs one callback; what it wants done after the commit is added to `effects`. */
  run(change: (tx: Tx) => unknown, effects: (() => void)[]): Outcome;
  /** Commits, and answers the error if that failed. */
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
 * An `async` callback would go on after its transaction, and a query that was built but not run is
 * a promise to Drizzle too. Its `then` is left alone: calling it would run the query.
 */
function requireSynchronous(value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  // What it still does ends in an error that nobody else waits for: its transaction is over.
  if (value instanceof Promise) value.catch(() => {});
  throw new Error("the callback of db.write must be synchronous, and this one gave a promise");
}
