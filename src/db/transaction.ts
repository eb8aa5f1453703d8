import type { Database } from "bun:sqlite";
import type { StatementCache, Tx } from "./statements";

/** A transaction as one callback of `db.write` has it: every use throws once it is over or gone. */
export class OpenTransaction implements Tx {
  readonly #sqlite: Database;
  readonly #statements: StatementCache;
  readonly #effects: (() => void)[];
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
