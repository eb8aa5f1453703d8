import { Database } from "bun:sqlite";
import { readTxid, readVersion, type Txid } from "./followed-files";
import { closeSqlite } from "./open";
import { StatementCache } from "./statement-cache";

/** Reason for which a followed database cannot be read at the moment. */
export type UnreadableReason = "missing" | "locked" | "unsettled" | "failing";

/**
 * A connection for one version of a followed database. Pages are written past SQLite, so its cache is valid for no
 * other version.
 */
export interface FollowedConnection {
  readonly sqlite: Database;
  readonly statements: StatementCache;
  /** True after the first read, which decides its version. */
  isBound(): boolean;
  /** Last transaction of the version; undefined before the first read. */
  txid(): Txid | undefined;
  /**
   * Begins a transaction with SQLite's shared lock, so that nothing is applied until `end`. Returns "other", without a
   * transaction, if the files have another version, or the reason for which they cannot be read now. Throws
   * SQLITE_BUSY while a transaction is being applied.
   */
  begin(now: number): "begun" | "other" | UnreadableReason;
  /** Ends the transaction. */
  end(): void;
  close(): void;
}

/** Opens a connection without reading. Throws if the file cannot be opened. */
export function openFollowedConnection(
  path: string,
  onStatementError: (error: unknown) => void,
): FollowedConnection {
  const sqlite = new Database(path, { readonly: true, create: false, strict: true });
  sqlite.run("PRAGMA busy_timeout = 0");
  // The file shrinks without notice. A page that is mapped into memory would then end the process.
  sqlite.run("PRAGMA mmap_size = 0");
  sqlite.run("PRAGMA trusted_schema = OFF");
  sqlite.run("PRAGMA temp_store = MEMORY");
  const begin = sqlite.prepare("BEGIN");
  const end = sqlite.prepare("COMMIT");
  // The first statement that reads takes the lock. This one needs no schema, which could be half written.
  const lock = sqlite.prepare("PRAGMA data_version");
  let version: string | undefined;
  let txid: Txid | undefined;

  function finish(): void {
    if (sqlite.inTransaction) end.run();
  }

  return {
    sqlite,
    statements: new StatementCache(sqlite, onStatementError),
    isBound: () => version !== undefined,
    txid: () => txid,
    begin(now) {
      begin.run();
      try {
        lock.get();
      } catch (error) {
        finish();
        throw error;
      }
      const found = readVersion(path, now);
      if (found?.isSettled === true && (version === undefined || found.key === version)) {
        if (version === undefined) txid = readTxid(path);
        version = found.key;
        return "begun";
      }
      finish();
      if (found === undefined) return "missing";
      return found.isSettled ? "other" : "unsettled";
    },
    end: finish,
    close: () => closeSqlite(sqlite),
  };
}
