import { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, openSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { isBusy, OperatorError, sqliteCode } from "./errors";

/** Mode of database files: owner and group only, since they contain hashes of keys and passwords. */
export const DATABASE_MODE = 0o640;

/** "Alcl" in ASCII: marks a file as Allclear's database (SQLite's `application_id`). */
export const APPLICATION_ID = 0x416c636c;

/** Options for opening a database. The defaults are those of a start. */
interface OpenOptions {
  /** False if a missing file is an error. */
  canCreate?: boolean;
  /** Longest wait for other processes while the database is opened, in ms. It blocks the thread. */
  openingWaitMs?: number;
  /** True if another process moves the write-ahead log into the database. */
  leavesLog?: boolean;
}

/** Longest wait of a command or a start for other processes. A running server does not wait. */
export const COMMAND_BUSY_TIMEOUT_MS = 5_000;

/** Free space that is needed to create shared memory for the write-ahead log. */
const SHARED_MEMORY_ROOM_BYTES = 256 * 1024;

/**
 * Opens a database in WAL mode with `synchronous=FULL`, so that acknowledged changes survive a power cut,
 * and with enforced foreign keys and strict parameters.
 *
 * A full disk has no room for the shared memory of WAL mode. The database is then opened for this process
 * alone, which needs no shared memory; other processes find it locked.
 *
 * `busyTimeoutMs` blocks the thread while another process writes: 0 in a server. Throws an OperatorError
 * for a file that is not a database of Allclear, and for file systems without support for WAL.
 */
export function openSqlite(
  path: string,
  busyTimeoutMs: number,
  options: OpenOptions = {},
): Database {
  try {
    return openWithFallback(path, busyTimeoutMs, options);
  } catch (error) {
    throw explainOpening(path, error);
  }
}

/**
 * Opens the database shared, or exclusively on a full disk, and falls back to the other mode. If both
 * fail, throws the first error.
 */
function openWithFallback(path: string, busyTimeoutMs: number, options: OpenOptions): Database {
  const isTight = isDiskTight(path);
  try {
    return openInMode(path, busyTimeoutMs, isTight ? "exclusive" : "shared", options);
  } catch (error) {
    if (!(isTight ? isBusy(error) : isOutOfRoom(error))) throw error;
    try {
      return openInMode(path, busyTimeoutMs, isTight ? "shared" : "exclusive", options);
    } catch {
      throw error;
    }
  }
}

/** Returns true for the errors of a full disk, which depend on the file that cannot grow. */
function isOutOfRoom(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|CANTOPEN)/.test(sqliteCode(error) ?? "");
}

/**
 * Returns true if the file system of an existing database has almost no free space. Shared memory must not
 * be used then: a page without a block in the file system ends the process (SIGBUS).
 */
export function isDiskTight(path: string): boolean {
  if (path === ":memory:" || !existsSync(path)) return false;
  const { bavail, bfree, bsize } = statfsSync(dirname(path));
  const free = process.getuid?.() === 0 ? bfree : bavail;
  return free * bsize < SHARED_MEMORY_ROOM_BYTES;
}

function openInMode(
  path: string,
  busyTimeoutMs: number,
  mode: "shared" | "exclusive",
  { canCreate = true, openingWaitMs = COMMAND_BUSY_TIMEOUT_MS, leavesLog = false }: OpenOptions,
): Database {
  let sqlite: Database | undefined;
  try {
    if (canCreate) createFile(path);
    sqlite = new Database(path, { create: canCreate, readwrite: true, strict: true });
    // Must be set before the first read, so that SQLite keeps the index of the log in its own memory.
    if (mode === "exclusive") sqlite.run("PRAGMA locking_mode = EXCLUSIVE");
    sqlite.run(`PRAGMA busy_timeout = ${mode === "exclusive" ? 0 : openingWaitMs}`);
    configure(sqlite, path);
    if (leavesLog) sqlite.run("PRAGMA wal_autocheckpoint = 0");
    sqlite.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    return sqlite;
  } catch (error) {
    if (sqlite) closeSqlite(sqlite);
    throw error;
  }
}

/** Creates a missing file with `DATABASE_MODE`. SQLite would use the mode of the umask. */
function createFile(path: string): void {
  if (path === ":memory:" || existsSync(path)) return;
  try {
    closeSync(openSync(path, "wx", DATABASE_MODE));
  } catch {
    // SQLite fails for the same reason and names it.
  }
}

/** Applies the settings of every connection. A new database is also marked as Allclear's. */
export function configure(sqlite: Database, path: string): void {
  const isNew = pragma(sqlite, "page_count") === 0;
  if (isNew) {
    // Can be set for a new file only. Deleted history then returns its space without VACUUM.
    sqlite.run("PRAGMA auto_vacuum = INCREMENTAL");
    sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    // The umask may have removed bits. The logs of SQLite get the same mode.
    if (path !== ":memory:") chmodSync(path, DATABASE_MODE);
  } else if (pragma(sqlite, "application_id") !== APPLICATION_ID) {
    throw new OperatorError(`${path} is another program's database. Name another data directory.`);
  }
  const mode = pragma(sqlite, "journal_mode = WAL");
  if (mode !== "wal" && path !== ":memory:") {
    throw new OperatorError(
      `SQLite cannot use write-ahead logging on ${path} (it answered "${mode}"). Put the data directory on a local file system.`,
    );
  }
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("PRAGMA trusted_schema = OFF");
  // The journal of a large transaction would need a temporary file, which a container with a read-only
  // root cannot create.
  sqlite.run("PRAGMA temp_store = MEMORY");
  // What is deleted, such as an erased address, is overwritten in every page that is written anyway. Writes
  // take 0.96 to 1.04 of their time without it, which is no measurable difference.
  sqlite.run("PRAGMA secure_delete = FAST");
  sqlite.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
}

function explainOpening(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return new OperatorError(
      `${path} is not a database, or it is damaged. Put a backup in its place:  allclear restore FILE`,
      error,
    );
  }
  if (isBusy(error)) {
    return new OperatorError(
      `${path} is locked by another process. A server that was started on a full disk keeps it locked until there is room.`,
      error,
    );
  }
  return new OperatorError(`${path} cannot be opened: ${(error as Error).message}.`, error);
}

/**
 * Closes a connection with its statements and releases its files and locks at once. `close()` without an
 * argument leaves them to the garbage collector while a prepared statement lives.
 */
export function closeSqlite(sqlite: Database): void {
  sqlite.close(true);
}

/** Runs a pragma and returns its single value. */
export function pragma(sqlite: Database, text: string): unknown {
  const row = sqlite.prepare<Record<string, unknown>, []>(`PRAGMA ${text}`).get();
  return row ? Object.values(row)[0] : undefined;
}

/** Returns true if a database passes `integrity_check` and the check of foreign keys. */
export function isSound(sqlite: Database): boolean {
  return (
    pragma(sqlite, "integrity_check") === "ok" &&
    sqlite.prepare("PRAGMA foreign_key_check").all().length === 0
  );
}

/** A migration that was applied to a database. */
export interface AppliedMigration {
  number: number;
  name: string;
  /** SHA-256 of its SQL, in hexadecimal. */
  checksum: string;
}

/** Returns the migrations that were applied to a database, oldest first. */
export function readApplied(sqlite: Database): AppliedMigration[] {
  const exists = sqlite
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'")
    .get();
  if (!exists) return [];
  return sqlite
    .prepare<AppliedMigration, []>(
      "SELECT number, name, checksum FROM schema_migrations ORDER BY number",
    )
    .all();
}

/** Returns the schema version of a database; 0 for an empty one. */
export function schemaVersion(sqlite: Database): number {
  return readApplied(sqlite).length;
}

/** Returns true if a file is one of Allclear's databases. */
export function isAllclearDatabase(sqlite: Database): boolean {
  return pragma(sqlite, "application_id") === APPLICATION_ID && schemaVersion(sqlite) > 0;
}

/** Returns the path of a database's write-ahead log. */
export function walOf(database: string): string {
  return `${database}-wal`;
}
