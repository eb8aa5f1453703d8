import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { Clock } from "../kernel/clock";
import type { Log } from "../kernel/log";
import type { Signal } from "../kernel/signal";
import { copyDatabase } from "./backup";
import { connect } from "./connection";
import { closeSqlite, isDiskTight, openSqlite, pragma } from "./open";
import { isResourceFailure } from "./sqlite-errors";
import type { Reader, Tx } from "./statements";
import { MovedError } from "./storage-fault";
import { createStorageWatch, type StorageState } from "./storage-watch";
import { createWriter, type WriterFigures } from "./writer";

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
  /** Tells whether changes can be stored, as far as is known without writing one. */
  storage(): StorageState;
  /** Like `storage`, after a write that changes nothing where no recent one proves it. */
  checkStorage(): Promise<StorageState>;
  /** Emitted when a change is stored after some could not be. */
  recovered: Signal<void>;
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

/**
 * Least time between two attempts to share a database that is open exclusively. One that could not be
 * opened is retried every second.
 */
const REOPEN_PAUSE_MS = 30_000;

/** Wraps an open and migrated connection. */
export function createDb(sqlite: Database, clock: Clock, log: Log): Db {
  const path = sqlite.filename;
  const busyTimeoutMs = Number(pragma(sqlite, "busy_timeout"));
  const watch = createStorageWatch(clock, log, retry);
  let connection = connect(sqlite, log, watch.statementFailed);
  const writer = createWriter(() => connection, watch, clock, log);
  let isOpen = true;
  let isClosed = false;
  let reopenAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;
  let knownVersion = 0;

  /** Looks at the directory too, since a server at rest writes nothing that would find it moved. */
  function storage(): StorageState {
    if (watch.state().fault !== "moved" && connection.isMoved())
      watch.writeFailed(new MovedError());
    return watch.state();
  }

  /** Answers true when changes are stored and other processes can use the database. */
  async function retry(): Promise<boolean> {
    if (isOpen && watch.state().fault !== undefined) await writer.probe();
    if (!isClosed && connection.isExclusive && watch.state().fault === undefined) reopen();
    return isClosed || (watch.state().fault === undefined && !connection.isExclusive);
  }

  /** Gives other processes access again, which opening on a full disk has taken from them. */
  function reopen(): void {
    const now = clock.monotonic();
    if (isOpen && (now < reopenAt || isDiskTight(path))) return;
    reopenAt = now + REOPEN_PAUSE_MS;
    try {
      if (isOpen) closeSqlite(connection.sqlite);
      isOpen = false;
      connection = connect(openSqlite(path, busyTimeoutMs), log, watch.statementFailed);
      isOpen = true;
    } catch (error) {
      log.error({ err: error }, "the database could not be opened again; trying in a second");
    }
  }

  if (connection.isExclusive) {
    log.warn("the disk is full: this process has the database for itself until there is room");
    void writer.probe();
    watch.retryUntilDone();
  }
  return {
    get statements() {
      return connection.statements;
    },
    write: writer.write,
    storage,
    async checkStorage() {
      if (storage().fault === "moved" || watch.isCurrent()) return watch.state();
      checking ??= writer.probe().finally(() => (checking = undefined));
      await checking;
      return watch.state();
    },
    recovered: watch.recovered,
    foreignVersion() {
      try {
        knownVersion = connection.dataVersion();
      } catch (error) {
        // A timer asks for this: what it throws would end the server.
        if (!isResourceFailure(error)) throw error;
      }
      return knownVersion;
    },
    figures() {
      const pageBytes = Number(pragma(connection.sqlite, "page_size"));
      const { filename } = connection.sqlite;
      return {
        ...writer.figures(),
        sizeBytes: Number(pragma(connection.sqlite, "page_count")) * pageBytes,
        freeBytes: Number(pragma(connection.sqlite, "freelist_count")) * pageBytes,
        walBytes: statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      };
    },
    copyTo: (file) => copyDatabase(connection.sqlite, file),
    close() {
      isClosed = true;
      writer.close();
      watch.close();
      if (!isOpen) return;
      try {
        pragma(connection.sqlite, "wal_checkpoint(TRUNCATE)");
      } catch (error) {
        log.warn({ err: error }, "the write-ahead log was left for the next start");
      }
      closeSqlite(connection.sqlite);
    },
  };
}
