import type { Database } from "bun:sqlite";
import { sql } from "drizzle-orm";
import { statSync } from "node:fs";
import type { Clock } from "../base/clock";
import { unavailable } from "../base/errors";
import type { Log } from "../base/log";
import type { Signal } from "../base/signal";
import type * as CopiesModule from "./copies";
import { MovedError } from "./errors";
import { closeSqlite, isDiskTight, openSqlite, pragma, walOf } from "./open";
import { mutate, type Reader, selectOne, type Tx } from "./statements";
import {
  createStorageWatch,
  type DiskSpace,
  readDiskSpace,
  type StorageState,
} from "./storage-watch";
import {
  connect,
  type DbConnection,
  createMoveCheck,
  createWriter,
  type WriterFigures,
} from "./writer";

/** An open database, read synchronously through statements and written through `write`. */
export interface Db extends Reader {
  /**
   * Runs a synchronous callback in a transaction and resolves to its result once the commit is durable.
   * Rejects with the error of the callback, whose changes are rolled back, or with `unavailable`.
   * Called by routes, jobs and commands only; services take the `tx`.
   */
  write<T>(change: (tx: Tx) => T): Promise<T>;
  /** Rejects changes from here on with the error that `rejection` returns, if it returns one. */
  guard(rejection: () => Error | undefined): void;
  /** Number of changes in committed transactions since the start. */
  readonly changes: number;
  /**
   * Returns a number that changes when another connection has committed, or may have, and never by writes
   * of this process. Does not change while the database cannot be read. Never throws.
   */
  foreignVersion(): number;
  /** Returns the state of the storage, as far as it is known without a write. */
  storage(): StorageState;
  /** Like `storage`, after a write without changes if there was no recent one. */
  checkStorage(): Promise<StorageState>;
  /** Emitted when a change is stored after failed ones. */
  recovered: Signal<void>;
  /** Returns sizes in bytes and counters of writes since the start, for metrics. */
  figures(): DbFigures;
  /** Path of the database; ":memory:" without a file. */
  readonly path: string;
  /** Returns the space of the database's file system; undefined without a file, or if it is unreadable. */
  disk(): Promise<DiskSpace | undefined>;
  /** Writes a consistent copy to a new file. */
  copyTo(file: string): void;
  close(): void;
}

interface DbFigures extends WriterFigures {
  /** Includes free space in the file. */
  sizeBytes: number;
  freeBytes: number;
  /** Size of the write-ahead log; 0 in memory. */
  walBytes: number;
}

/** Least time between two attempts to share a database that is open exclusively. */
const REOPEN_PAUSE_MS = 30_000;

/** Longest wait for other processes when the database is opened again: it blocks the event loop. */
const REOPEN_WAIT_MS = 50;

/** Options of a database that other processes use too. */
interface SharedOptions {
  /** True if another process moves the write-ahead log into the database. */
  leavesLog?: boolean;
}

/** Creates the database of an open and migrated connection. */
export function createDb(
  sqlite: Database,
  clock: Clock,
  log: Log,
  { leavesLog = false }: SharedOptions = {},
): Db {
  const path = sqlite.filename;
  const busyTimeoutMs = Number(pragma(sqlite, "busy_timeout"));
  const watch = createStorageWatch(clock, log, retry);
  let connection = connect(sqlite, log, watch.onStatementError);
  const writer = createWriter(requireOpen, watch, clock, log);
  // The log is not checked: closing removes it.
  const isReplaced = createMoveCheck(path);
  /** Error of the last attempt to open the database again; undefined while it is open. */
  let openingError: unknown;
  let isClosed = false;
  let reopenAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;
  let foreignVersion = 0;
  let dataVersion: number | undefined;
  let rejection: (() => Error | undefined) | undefined;

  /** Throws `unavailable` while the database could not be opened again. */
  function requireOpen(): DbConnection {
    if (openingError === undefined) return connection;
    throw unavailable("The database cannot answer now; try again.", 5, openingError);
  }

  /** Checks the directory too, since an idle server has no writes that would notice a move. */
  function storage(): StorageState {
    const isOpen = openingError === undefined;
    if (isOpen && watch.state().fault !== "moved" && connection.isMoved()) {
      watch.writeFailed(new MovedError());
    }
    return watch.state();
  }

  /** Resolves to true if changes are stored and other processes can use the database. */
  async function retry(): Promise<boolean> {
    if (openingError !== undefined) openAgain();
    if (watch.state().fault !== undefined) await writer.probe();
    if (isClosed) return true;
    if (connection.isExclusive && watch.state().fault === undefined) share();
    return watch.state().fault === undefined && !connection.isExclusive;
  }

  /** Lets other processes use the database again, after it was opened exclusively on a full disk. */
  function share(): void {
    const now = clock.monotonic();
    if (now < reopenAt) return;
    // Files that were moved stay open, since they cannot be opened again.
    if (connection.isMoved()) watch.writeFailed(new MovedError());
    else if (!isDiskTight(path)) {
      reopenAt = now + REOPEN_PAUSE_MS;
      closeSqlite(connection.sqlite);
      openAgain();
    }
  }

  /** Opens the database after it was closed, unless the file was removed or replaced. */
  function openAgain(): void {
    try {
      if (isReplaced()) throw new MovedError();
      const options = { canCreate: false, openingWaitMs: REOPEN_WAIT_MS, leavesLog };
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
    write(change) {
      const refused = rejection?.();
      return refused ? Promise.reject(refused) : writer.write(change);
    },
    guard: (given) => void (rejection = given),
    get changes() {
      return writer.figures().changes;
    },
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
        // Called by a timer: an error would end the server.
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
    path,
    disk: () => readDiskSpace(path),
    copyTo(file) {
      // Required here, since a start needs it only for an upgrade.
      const { copyDatabase } = require("./copies") as typeof CopiesModule;
      copyDatabase(requireOpen().sqlite, file);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      writer.close();
      watch.close();
      if (openingError !== undefined) return;
      try {
        if (!leavesLog) pragma(connection.sqlite, "wal_checkpoint(TRUNCATE)");
      } catch (error) {
        log.warn({ err: error }, "the write-ahead log was left for the next start");
      }
      closeSqlite(connection.sqlite);
    },
  };
}

/** Number of free pages that one call returns, of 4 KB each: about 4 ms of work. */
const PAGES_PER_CALL = 256;
/** Free pages that stay in the file for new rows: one of 20, at least 1 MB. */
const KEPT_SHARE = 1 / 20;
const KEPT_AT_LEAST = 256;

const countPages = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ all: sql<number>`page_count`, free: sql<number>`freelist_count` })
    .from(sql`pragma_page_count, pragma_freelist_count`),
);

/** Moves the last pages of the file into free ones and cuts it. Without `auto_vacuum`, it has no effect. */
const cutFile = mutate((_orm, _$: Record<string, never>) => ({
  toSQL: () => ({ sql: `PRAGMA incremental_vacuum(${PAGES_PER_CALL})`, params: [] }),
}));

/**
 * Returns up to 256 free pages of the database file to the file system, but leaves a twentieth of the file free.
 * Returns true if there are more.
 */
export function returnFreePages(tx: Tx): boolean {
  const surplus = () => {
    const { all, free } = countPages(tx, {}) ?? { all: 0, free: 0 };
    return free - Math.max(KEPT_AT_LEAST, all * KEPT_SHARE);
  };
  const before = surplus();
  if (before < PAGES_PER_CALL) return false;
  cutFile(tx, {});
  // A file that another program wrote may be unable to shrink.
  return surplus() < before;
}
