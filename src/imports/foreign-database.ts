import { constants as sqliteConstants, Database, type SQLQueryBindings } from "bun:sqlite";
import {
  accessSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { oneLine, parseJson } from "../base/text";
import { OperatorError } from "../db/errors";
import { closeSqlite } from "../db/open";

/** Longest wait for a process that writes, in ms. It blocks the thread. */
const BUSY_TIMEOUT_MS = 5_000;

/** Maximum size of a value that is cut, in bytes. SQLite needs memory for the whole value. */
const CUT_BYTES_MAX = 16 * 1024 * 1024;

/** Prepared query, whose values are foreign. Its errors are OperatorErrors. */
export interface Query<Row extends object> {
  all(...values: SQLQueryBindings[]): Row[];
  /** Reads rows one after another. Only one such reading can be under way. */
  iterate(...values: SQLQueryBindings[]): Generator<Row>;
}

/**
 * SQLite database of another product, in one read transaction. Its content is foreign: tables and columns are looked up
 * before they are read, and errors of SQLite become OperatorErrors.
 */
export class ForeignDatabase implements Disposable {
  protected readonly sqlite: Database;
  /** Columns by table, without computed ones. Views and virtual tables have none. */
  protected readonly tables: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #file: DatabaseFile;
  readonly #identity: string;

  /** `path` is what people know the file by. */
  constructor(
    readonly path: string,
    file: DatabaseFile,
  ) {
    this.#file = file;
    this.#identity = identityOf(file.path);
    try {
      this.sqlite = openForeign(file);
    } catch (error) {
      removeCopy(file);
      throw this.explain(error);
    }
    this.tables = this.orClose(() => readTables(this.sqlite));
    // The open files stay until they are closed, and also a process that is killed leaves nothing. Windows removes
    // them when they are closed.
    if (process.platform !== "win32") removeCopy(file);
  }

  /** Runs a part of a constructor, and closes the database if it throws. */
  protected orClose<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      this[Symbol.dispose]();
      throw this.explain(error);
    }
  }

  /** Returns true if the database has a table, with a column if one is named. */
  has(table: string, column?: string): boolean {
    const columns = this.tables.get(table);
    return columns !== undefined && (column === undefined || columns.has(column));
  }

  /** Prepares a query of tables and columns that the database has. */
  prepare<Row extends object>(sql: string): Query<Row> {
    const statement = this.read(() => this.sqlite.prepare<Row, SQLQueryBindings[]>(sql));
    const explain = (error: unknown) => this.explain(error);
    return {
      all: (...values) => this.read(() => statement.all(...values)),
      *iterate(...values) {
        try {
          yield* statement.iterate(...values);
        } catch (error) {
          throw explain(error);
        }
      },
    };
  }

  /**
   * Throws an OperatorError if the database was opened by another process since it was opened here without locks,
   * since what was read may then be wrong.
   */
  requireUnchanged(): void {
    const { path, access } = this.#file;
    if (access === "lone" && identityOf(path) !== this.#identity) {
      throw new OperatorError(`${this.path} was changed while it was read. Read it again.`);
    }
  }

  protected read<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw this.explain(error);
    }
  }

  protected explain(error: unknown): unknown {
    if (error instanceof OperatorError) return error;
    return new OperatorError(
      `${this.path} cannot be read: ${oneLine((error as Error).message)}.`,
      error,
    );
  }

  [Symbol.dispose](): void {
    closeSqlite(this.sqlite);
    removeCopy(this.#file);
  }
}

function readTables(sqlite: Database): Map<string, ReadonlySet<string>> {
  const columnsOf = sqlite.prepare<{ name: string }, [string]>(
    "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
  );
  const tables = new Map<string, ReadonlySet<string>>();
  for (const { name, isPlain } of sqlite
    .prepare<{ name: string; isPlain: number }, []>(
      // Views and virtual tables have no page of their own.
      `SELECT name, type = 'table' AND rootpage > 0 AS isPlain FROM sqlite_schema
       WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .iterate()) {
    tables.set(name, new Set(isPlain ? columnsOf.all(name).map((column) => column.name) : []));
  }
  return tables;
}

/** Opens a database of another product in a read transaction. */
function openForeign({ path, access }: DatabaseFile): Database {
  const sqlite =
    access === "lone"
      ? new Database(
          `${pathToFileURL(path).href}?immutable=1`,
          sqliteConstants.SQLITE_OPEN_READONLY | sqliteConstants.SQLITE_OPEN_URI,
        )
      : new Database(path, { readonly: true });
  try {
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Functions in views and triggers are not called, and pages are checked before they are used.
    sqlite.run("PRAGMA trusted_schema = OFF");
    sqlite.run("PRAGMA cell_size_check = ON");
    // Sorting needs no further files.
    sqlite.run("PRAGMA temp_store = MEMORY");
    sqlite.run("BEGIN");
    // The transaction starts with the first read.
    sqlite.prepare("SELECT count(*) FROM sqlite_schema").get();
    return sqlite;
  } catch (error) {
    closeSqlite(sqlite);
    throw error;
  }
}

/** Removes the folder of a copy. */
function removeCopy({ path, access }: DatabaseFile): void {
  if (access === "copy") rmSync(dirname(path), { recursive: true, force: true });
}

/** Returns an expression for a column with its text cut, and null for a huge one. */
export function cut(name: string, textMax: number): string {
  return `CASE typeof(${name}) WHEN 'text' THEN iif(octet_length(${name}) > ${CUT_BYTES_MAX}, NULL, substr(${name}, 1, ${textMax})) WHEN 'blob' THEN NULL ELSE ${name} END`;
}

/** Returns an expression for a column with numbers; null for other values. */
export function numeric(name: string): string {
  return `iif(typeof(${name}) IN ('integer', 'real'), ${name}, NULL)`;
}

/** Size of the headers of a database and of its write-ahead log, in bytes. */
const DATABASE_HEADER = 100;
const WAL_HEADER = 32;

/** First bytes of every SQLite database. */
const MAGIC = "SQLite format 3\0";

/** File format version of a database in WAL mode, at offset 18. */
const WAL_VERSION = 2;

const COPIES_MAX = 3;

/** Database of a source, and how it can be read without changing anything in its folder. */
export interface DatabaseFile {
  path: string;
  /**
   * `shared`: with its locks, and its shared memory if it has any. `lone`: no process has it open, and its header
   * names a write-ahead log that does not exist; SQLite would create one. `copy`: in a folder of its own, since that
   * of the source cannot be used.
   */
  access: "shared" | "lone" | "copy";
}

/**
 * Finds the database of a source in a file, or `kuma.db` in a data directory. One whose folder cannot be used is copied.
 * Throws an OperatorError.
 */
export async function findDatabaseFile(given: string): Promise<DatabaseFile> {
  const file = findOriginal(given);
  return file.access === "copy" ? { ...file, path: await copyDatabase(file.path) } : file;
}

function findOriginal(given: string): DatabaseFile {
  try {
    const path = realpathSync(pathOf(given));
    const file = statSync(path);
    if (!file.isFile()) throw new OperatorError(`${given} is no file.`);
    const header = readStart(path, DATABASE_HEADER);
    if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) {
      throw new OperatorError(`${given} is no SQLite database.`);
    }
    return { path, access: header[18] === WAL_VERSION ? walAccess(path, file.uid) : "shared" };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new OperatorError(`There is no file ${given}.`);
    throw new OperatorError(`${given} cannot be read: ${message}.`);
  }
}

function pathOf(given: string): string {
  if (!statSync(given).isDirectory()) return given;
  const path = join(given, "kuma.db");
  if (statSync(path, { throwIfNoEntry: false })) return path;
  const isMariaDb = databaseTypeOf(given)?.includes("mariadb") ?? false;
  throw new OperatorError(
    isMariaDb
      ? `${given} is of an Uptime Kuma that uses MariaDB, which is not supported.`
      : `There is no kuma.db in ${given}.`,
  );
}

/** Returns the kind of database that the configuration of Uptime Kuma 2 names. */
function databaseTypeOf(folder: string): string | undefined {
  try {
    const config = parseJson(readFileSync(join(folder, "db-config.json"), "utf8"));
    return String((config as { type?: unknown } | null)?.type);
  } catch {
    return undefined;
  }
}

function walAccess(path: string, owner: number): DatabaseFile["access"] {
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const isOpen = statSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined;
  if (!wal || (wal.size === 0 && !isOpen)) return "lone";
  return canShareMemory(path, owner) ? "shared" : "copy";
}

/**
 * Returns true if shared memory beside the database can be created so that its owner can use it too: SQLite gives
 * new files to the owner only if it runs as root.
 */
function canShareMemory(path: string, owner: number): boolean {
  const uid = process.getuid?.() ?? owner;
  if (uid !== 0 && uid !== owner) return false;
  try {
    accessSync(dirname(path), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Copies a database and its write-ahead log into a private temporary folder, and returns the path of the copy. It
 * is copied again if changes were lost meanwhile. Throws an OperatorError, and leaves no copy then.
 */
export async function copyDatabase(path: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "allclear-import-"));
  try {
    const target = join(folder, "kuma.db");
    for (let copies = 0; copies < COPIES_MAX; copies += 1) {
      const start = walStart(path);
      await copyFile(path, target);
      // After the database, so that it has every change that a checkpoint wrote into the copy.
      await copyFile(`${path}-wal`, `${target}-wal`);
      // A log that starts again, and so loses changes, gets another header.
      if (walStart(path).equals(start)) return target;
    }
    throw new OperatorError(
      `${path} is written to too often to be copied. Stop Uptime Kuma, or let this user write to its folder.`,
    );
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${path} cannot be copied: ${(error as Error).message}.`);
  }
}

/** Returns text that changes when another process opens or writes the database. */
function identityOf(path: string): string {
  const { mtimeMs, size } = statSync(path);
  return `${mtimeMs}:${size}:${statSync(`${path}-wal`, { throwIfNoEntry: false })?.size}`;
}

function walStart(path: string): Buffer {
  return readStart(`${path}-wal`, WAL_HEADER);
}

function readStart(path: string, bytes: number): Buffer {
  const start = Buffer.alloc(bytes);
  const descriptor = openSync(path, "r");
  try {
    return start.subarray(0, readSync(descriptor, start, 0, bytes, 0));
  } finally {
    closeSync(descriptor);
  }
}
