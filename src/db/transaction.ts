import type { Database } from "bun:sqlite";
import type { StatementCache, Tx } from "./statements";

/** A transaction as one callback of `db.write` has it: every use throws once it is over or gone. */
export class OpenTransaction implements Tx {
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
