import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { unavailable } from "../errors/problem";
import type { Clock } from "../kernel/clock";
import type { Log } from "../kernel/log";
import type { Signal } from "../kernel/signal";
import { copyDatabase } from "./backup";
import { connect, type Connection, createMoveCheck } from "./connection";
import { walOf } from "./database-files";
import { closeSqlite, isDiskTight, openSqlite, pragma } from "./open";
import type { Reader, Tx } from "./statements";
import { MovedError } from "./errors";
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
   * Number that changes when another connection has committed, or may have, and never by our own
   * writes. Stays as it was while the database cannot be read. Never throws.
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
  /** Includes the space that is free to be used again. */
  sizeBytes: number;
  freeBytes: number;
  /** Size of the write-ahead log; 0 in memory. */
  walBytes: number;
}

/**
 * Least time between two attempts to share a database that is open exclusively. One that could not be
 * opened is retried every second.
 */
const REOPEN_PAUSE_MS = 30_000;

/** Longest wait for other processes when the database is opened again: it blocks the event loop. */
const REOPEN_WAIT_MS = 50;

/** Wraps an open and migrated connection. */
export function createDb(sqlite: Database, clock: Clock, log: Log): Db {
  const path = sqlite.filename;
  const busyTimeoutMs = Number(pragma(sqlite, "busy_timeout"));
  const watch = createStorageWatch(clock, log, retry);
  let connection = connect(sqlite, log, watch.onStatementError);
  const writer = createWriter(requireOpen, watch, clock, log);
  // Without its log, which closing removes.
  const isReplaced = createMoveCheck(path);
  /** Error of the last attempt to open the database again; undefined while it is open. */
  let openingError: unknown;
  let isClosed = false;
  let reopenAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;
  let foreignVersion = 0;
  let dataVersion: number | undefined;

  /** Throws `unavailable` while the database could not be opened again. */
  function requireOpen(): Connection {
    if (openingError === undefined) return connection;
    throw unavailable("The database cannot answer now; try again.", 5, openingError);
  }

  /** Looks at the directory too, since a server at rest writes nothing that would find it moved. */
  function storage(): StorageState {
    const isOpen = openingError === undefined;
    if (isOpen && watch.state().fault !== "moved" && connection.isMoved()) {
      watch.writeFailed(new MovedError());
    }
    return watch.state();
  }

  /** Answers true when changes are stored and other processes can use the database. */
  async function retry(): Promise<boolean> {
    if (openingError !== undefined) openAgain();
    if (watch.state().fault !== undefined) await writer.probe();
    if (isClosed) return true;
    if (connection.isExclusive && watch.state().fault === undefined) share();
    return watch.state().fault === undefined && !connection.isExclusive;
  }

  /** Gives other processes access again, which opening on a full disk has taken from them. */
  function share(): void {
    const now = clock.monotonic();
    if (now < reopenAt) return;
    // The open files are the only way to what was moved: they are kept open.
    if (connection.isMoved()) watch.writeFailed(new MovedError());
    else if (!isDiskTight(path)) {
      reopenAt = now + REOPEN_PAUSE_MS;
      closeSqlite(connection.sqlite);
      openAgain();
    }
  }

  /** Opens the database after it was closed, unless another file or none has its name by now. */
  function openAgain(): void {
    try {
      if (isReplaced()) throw new MovedError();
      const options = { mayCreate: false, openingWaitMs: REOPEN_WAIT_MS };
      connection = connect(openSqlite(path, busyTimeoutMs, options), log, watch.onStatementError);
      openingError = undefined;
      dataVersion = undefined;
    } catch (error) {
      openingError = error;
      watch.writeFailed(error);
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
      return requireOpen().statements;
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
        const version = requireOpen().dataVersion();
        if (version !== dataVersion) foreignVersion += 1;
        dataVersion = version;
      } catch (error) {
        // A timer asks for this: an error would end the server.
        watch.onStatementError(error);
      }
      return foreignVersion;
    },
    figures() {
      const { sqlite: open } = requireOpen();
      const pageBytes = Number(pragma(open, "page_size"));
      return {
        ...writer.figures(),
        sizeBytes: Number(pragma(open, "page_count")) * pageBytes,
        freeBytes: Number(pragma(open, "freelist_count")) * pageBytes,
        walBytes: statSync(walOf(path), { throwIfNoEntry: false })?.size ?? 0,
      };
    },
    copyTo: (file) => copyDatabase(requireOpen().sqlite, file),
    close() {
      isClosed = true;
      writer.close();
      watch.close();
      if (openingError !== undefined) return;
      try {
        pragma(connection.sqlite, "wal_checkpoint(TRUNCATE)");
      } catch (error) {
        log.warn({ err: error }, "the write-ahead log was left for the next start");
      }
      closeSqlite(connection.sqlite);
    },
  };
}
