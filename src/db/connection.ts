import type { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Log } from "../kernel/log";
import { createMoveCheck } from "./file-identity";
import { walOf } from "./file-suffixes";
import { isExclusive, pragma } from "./open";
import { createSharedTransaction, type SharedTransaction } from "./shared-transaction";
import { StatementCache } from "./statements";

/** One open connection with everything that is prepared on it. */
export interface Connection {
  readonly sqlite: Database;
  readonly statements: StatementCache;
  readonly transaction: SharedTransaction;
  /** True if no other process can use the database: it was opened without shared memory. */
  readonly isExclusive: boolean;
  /** SQLite's count of commits by other connections. Throws while the database cannot be read. */
  dataVersion(): number;
  /** Rewrites the database header unchanged, so that the disk is tried. Called inside a transaction. */
  touch(): void;
  /** True if the data directory no longer holds the files that this connection has open. */
  isMoved(): boolean;
}

/** `onStatementError` is called with every error of a statement. */
export function connect(
  sqlite: Database,
  log: Log,
  onStatementError: (error: unknown) => void,
): Connection {
  const statements = new StatementCache(drizzle(sqlite) as never, onStatementError);
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
