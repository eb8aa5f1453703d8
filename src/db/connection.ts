import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { Log } from "../base/log";
import { walOf } from "./database-files";
import { isExclusive, pragma } from "./open";
import { StatementCache } from "./statement-cache";
import { createSharedTransaction, type SharedTransaction } from "./transaction";

/** An open connection with its prepared statements. */
export interface Connection {
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
): Connection {
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
