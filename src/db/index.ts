/**
 * The database: opened with the settings that the guarantees rest on, migrated, and written through
 * one door, `db.write`, which commits in groups. Stores declare their statements with `selectOne`,
 * `selectMany` and `mutate`.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../kernel/clock";
import type { Log } from "../kernel/log";
import { copyDatabase } from "./backup";
import { closeSqlite, pragma } from "./open";
import { isResourceFailure } from "./sqlite-errors";
import { type Reader, StatementCache, type Tx } from "./statements";
import { createWriter, type WriterFigures } from "./writer";

export { OperatorError } from "./data-directory";
export {
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  type Tx,
  updateById,
} from "./statements";

/** One open database. Reading is synchronous, through statements; writing goes through `write`. */
export interface Db extends Reader {
  /**
   * Runs a synchronous callback inside a transaction and resolves with its answer once that is
   * durable. Rejects with what the callback threw, its changes undone, or with `unavailable`.
   * Only a route, a job or a command calls this; verbs take the `tx`.
   */
  write<T>(change: (tx: Tx) => T): Promise<T>;
  /**
   * A number that changes whenever another connection has committed, and never by our own writes.
   * Stays as it was while the database cannot be read.
   */
  foreignVersion(): number;
  /** For metrics: how large it is, in bytes, and how it was written since it was opened. */
  figures(): DbFigures;
  /** Writes a consistent copy to a new file. */
  copyTo(file: string): void;
  close(): void;
}

export interface DbFigures extends WriterFigures {
  /** With its free pages. */
  sizeBytes: number;
  freeBytes: number;
  /** The write-ahead log beside it; 0 in memory. */
  walBytes: number;
}

/** Wraps an open and migrated connection. */
export function createDb(sqlite: Database, clock: Clock, log: Log): Db {
  const statements = new StatementCache(drizzle(sqlite) as never);
  const writer = createWriter(sqlite, statements, clock, log);
  const dataVersion = sqlite.prepare<{ data_version: number }, []>("PRAGMA data_version");
  let knownVersion = 0;
  return {
    statements,
    write: writer.write,
    foreignVersion() {
      try {
        knownVersion = dataVersion.get()?.data_version ?? knownVersion;
      } catch (error) {
        // A timer asks for this: what it throws would end the server.
        if (!isResourceFailure(error)) throw error;
      }
      return knownVersion;
    },
    figures() {
      const pageBytes = Number(pragma(sqlite, "page_size"));
      return {
        ...writer.figures(),
        sizeBytes: Number(pragma(sqlite, "page_count")) * pageBytes,
        freeBytes: Number(pragma(sqlite, "freelist_count")) * pageBytes,
        walBytes: statSync(`${sqlite.filename}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      };
    },
    copyTo: (file) => copyDatabase(sqlite, file),
    close() {
      writer.close();
      try {
        pragma(sqlite, "wal_checkpoint(TRUNCATE)");
      } catch (error) {
        log.warn({ err: error }, "the write-ahead log was left for the next start");
      }
      closeSqlite(sqlite);
    },
  };
}
