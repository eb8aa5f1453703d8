import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { Clock } from "../base/clock";
import { Problem, unavailable } from "../base/errors";
import { createSignal } from "../base/signal";
import type { Db } from "./database";
import { isBusy, OperatorError, storageFaultOf } from "./errors";
import { APPLICATION_ID, closeSqlite, DATABASE_MODE, pragma } from "./open";
import { StatementCache } from "./statements";
import { readDiskSpace } from "./storage-watch";

/** Pause between two attempts of a read. */
const RETRY_MS = 5;
/** Longest wait of a read for a state that can be read. */
const GIVE_UP_MS = 250;
const RETRY_AFTER_SECONDS = 1;

/**
 * A database that another program writes past SQLite, from the log of the primary. Statements run in a transaction
 * that the first of them begins and the end of the turn of the event loop ends, so that everything that is read in one
 * turn is of one version. They throw `unavailable` while a transaction is being applied: wrap reads in `read`.
 */
export interface FollowedDb extends Db {
  /**
   * Returns the result of a function that only reads. Runs it again, after waits of 5 ms, while the database cannot be
   * read. Throws `unavailable` after 250 ms. A result that needs no statement never waits.
   */
  read<T>(work: () => T | Promise<T>): T | Promise<T>;
  /** Reads from another file from the next turn on. Resolves once the previous one is closed. */
  moveTo(path: string): Promise<void>;
  /** Returns the last transaction of the version that was read last; undefined before the first read. */
  txid(): Txid | undefined;
  /** Returns the state of the last attempt to read. */
  readability(): Readability;
}

export interface Readability {
  /** Reason for which the last attempt failed; undefined if it succeeded. */
  reason: UnreadableReason | undefined;
  /** Monotonic time of the first of the failed attempts since the last success or since `moveTo`. */
  since: number | undefined;
  /** Attempts that found a transaction half applied or not yet noted, since the start. */
  unsettled: number;
  /** True if SQLite has found damage in the present file. */
  isDamaged: boolean;
}

/** Cause of the errors of reads that may succeed in a few milliseconds. */
class NotReadableError extends Error {
  constructor(reason: UnreadableReason, cause?: unknown) {
    super(`the followed database is ${reason}`, { cause });
    this.name = "NotReadableError";
  }
}

/** Returns true for the error of a statement that may succeed in a few milliseconds. */
export function isNotReadable(error: unknown): boolean {
  return error instanceof Problem && error.cause instanceof NotReadableError;
}

/** Creates a database of the file at `path`, which `prepareFollowed` has prepared and which may appear later. */
export function createFollowedDb(path: string, clock: Clock): FollowedDb {
  let current = path;
  let connection: FollowedConnection | undefined;
  /** True within a transaction, which ends with the turn. */
  let isReading = false;
  let isClosed = false;
  let versions = 0;
  let txid: Txid | undefined;
  /** Error of the last attempt that failed for another reason than a lock. */
  let failure: unknown;
  let moving: PromiseWithResolvers<void> | undefined;
  const readability: Readability = {
    reason: undefined,
    since: undefined,
    unsettled: 0,
    isDamaged: false,
  };

  function onStatementError(error: unknown): void {
    if (storageFaultOf(error) === "damaged") readability.isDamaged = true;
  }

  /** Begins a transaction on the connection of the present version. */
  function begin(): FollowedConnection {
    if (isClosed) throw unavailable("The server is shutting down.", RETRY_AFTER_SECONDS);
    if (moving) finishMove();
    let result = attempt();
    // The next connection is of the present version.
    if (result === "other") result = attempt();
    if (result !== "begun") throw notReadable(result === "other" ? "unsettled" : result);
    readability.reason = undefined;
    readability.since = undefined;
    isReading = true;
    setImmediate(endRead);
    return connection as FollowedConnection;
  }

  /** Tries to begin a transaction. Closes a connection of another version, or of none. */
  function attempt(): "begun" | "other" | UnreadableReason {
    try {
      if (connection?.isBound() !== true) {
        const version = readVersion(current, clock.now());
        if (version === undefined) return "missing";
        if (!version.isSettled) return "unsettled";
      }
      connection ??= openFollowedConnection(current, onStatementError);
      const isNew = !connection.isBound();
      const result = connection.begin(clock.now());
      if (isNew && result === "begun") {
        versions += 1;
        txid = connection.txid();
      } else if (isNew || result === "other") closeConnection();
      return result;
    } catch (error) {
      if (isBusy(error)) return "locked";
      closeConnection();
      failure = error;
      return "failing";
    }
  }

  function notReadable(reason: UnreadableReason): Problem {
    if (reason === "unsettled") readability.unsettled += 1;
    readability.reason = reason;
    readability.since ??= clock.monotonic();
    const error = new NotReadableError(reason, reason === "failing" ? failure : undefined);
    return unavailable("The database cannot be read now; try again.", RETRY_AFTER_SECONDS, error);
  }

  function endRead(): void {
    if (!isReading) return;
    isReading = false;
    try {
      connection?.end();
    } catch (error) {
      // Thrown in a damaged database. Nothing else would catch it here.
      onStatementError(error);
      closeConnection();
    }
    if (moving) finishMove();
  }

  function finishMove(): void {
    closeConnection();
    txid = undefined;
    readability.reason = undefined;
    readability.since = undefined;
    readability.isDamaged = false;
    moving?.resolve();
    moving = undefined;
  }

  function closeConnection(): void {
    isReading = false;
    const closing = connection;
    connection = undefined;
    closing?.close();
  }

  function open(): FollowedConnection {
    return isReading ? (connection as FollowedConnection) : begin();
  }

  async function readAgain<T>(work: () => T | Promise<T>, failed: unknown): Promise<T> {
    const until = clock.monotonic() + GIVE_UP_MS;
    let error = failed;
    while (isNotReadable(error) && clock.monotonic() < until) {
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      try {
        return await work();
      } catch (another) {
        error = another;
      }
    }
    throw error;
  }

  return {
    get statements() {
      return open().statements;
    },
    read(work) {
      try {
        const result = work();
        return result instanceof Promise
          ? result.catch((error: unknown) => readAgain(work, error))
          : result;
      } catch (error) {
        if (!isNotReadable(error)) throw error;
        return readAgain(work, error);
      }
    },
    write: () => Promise.reject(unavailable("This node only reads. Changes need the primary.", 5)),
    guard() {},
    changes: 0,
    foreignVersion() {
      try {
        open();
      } catch {
        // Not readable now: the number stays the same.
      }
      return versions;
    },
    moveTo(other) {
      current = other;
      moving ??= Promise.withResolvers<void>();
      const { promise } = moving;
      if (!isReading) finishMove();
      return promise;
    },
    txid: () => txid,
    readability: () => ({ ...readability }),
    storage: () => ({ fault: "read_only", isDamaged: readability.isDamaged }),
    checkStorage: () => Promise.resolve({ fault: "read_only", isDamaged: readability.isDamaged }),
    recovered: createSignal<void>(),
    figures() {
      const { sqlite } = open();
      const pageBytes = Number(pragma(sqlite, "page_size"));
      return {
        batches: 0,
        changes: 0,
        rejected: 0,
        waiting: 0,
        sizeBytes: Number(pragma(sqlite, "page_count")) * pageBytes,
        freeBytes: Number(pragma(sqlite, "freelist_count")) * pageBytes,
        walBytes: 0,
      };
    },
    get path() {
      return current;
    },
    disk: () => readDiskSpace(current),
    copyTo() {
      throw unavailable("This node only reads. Backups need the primary.", 5);
    },
    close() {
      isClosed = true;
      closeConnection();
      moving?.resolve();
    },
  };
}

/** Reason for which a followed database cannot be read at the moment. */
type UnreadableReason = "missing" | "locked" | "unsettled" | "failing";

/**
 * A connection for one version of a followed database. Pages are written past SQLite, so its cache is valid for no
 * other version.
 */
interface FollowedConnection {
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
function openFollowedConnection(
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

/** Number of a transaction in the log of the primary. The first is 1. */
export type Txid = number;

/** Returns the path of the file in which Litestream notes the last transaction that it has applied. */
export function txidFileOf(database: string): string {
  return `${database}-txid`;
}

/** Returns a transaction's number as Litestream writes it: 16 hexadecimal digits. */
export function formatTxid(txid: Txid): string {
  return txid.toString(16).padStart(16, "0");
}

/** Returns the number of a transaction; undefined for any other text. */
export function parseTxid(text: string): Txid | undefined {
  return /^[0-9a-f]{16}$/.test(text) ? Number.parseInt(text, 16) : undefined;
}

/** Returns the last transaction that was applied to a followed database; undefined if it is not known. */
export function readTxid(database: string): Txid | undefined {
  try {
    return parseTxid(readFileSync(txidFileOf(database), "latin1").trim());
  } catch {
    return undefined;
  }
}

/**
 * Time within which two writes can leave the same modification time: a tick of the kernel's clock at 100 Hz, in ms.
 */
const TIME_STEP_MS = 10;

/** State of the files of a followed database. */
interface FollowedVersion {
  /** Differs whenever the content of the database does, for settled versions. */
  key: string;
  /**
   * True if the note of the last transaction was written after the database, and long enough ago that a later change
   * of the database would have another time. Otherwise the content may be half of a transaction.
   */
  isSettled: boolean;
}

/** Returns the state of the files. Opens neither of them; undefined if one is missing. */
function readVersion(database: string, now: number): FollowedVersion | undefined {
  const file = statSync(database, { bigint: true, throwIfNoEntry: false });
  const note = statSync(txidFileOf(database), { bigint: true, throwIfNoEntry: false });
  if (!file || !note) return undefined;
  const ageMs = now - Number(file.mtimeNs / 1_000_000n);
  // A time in the future comes from a clock that was set back, and is not the time of a write that just happened.
  const isRecent = ageMs < TIME_STEP_MS && ageMs > -TIME_STEP_MS;
  return {
    key: `${file.ino}:${file.mtimeNs}:${file.size}:${note.ino}:${note.mtimeNs}`,
    isSettled: note.mtimeNs > file.mtimeNs || (note.mtimeNs === file.mtimeNs && !isRecent),
  };
}

const HEADER_BYTES = 100;
/** Two bytes of the header: the versions that writing and reading require. 1 is a rollback journal, 2 is WAL. */
const JOURNAL_AT = 18;
const APPLICATION_ID_AT = 68;

/**
 * Makes a restored database readable beside the program that follows it: sets the journal mode to a rollback journal,
 * and notes the transaction. A connection that opens it in WAL mode keeps a lock, and nothing is applied until it
 * closes. The file must not be in use, since closing it would release the locks of this process. Throws an
 * OperatorError for another program's database.
 */
export function prepareFollowed(database: string, txid: Txid): void {
  const file = openSync(database, "r+");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    requireAllclear(header, database);
    writeSync(file, Uint8Array.of(1, 1), 0, 2, JOURNAL_AT);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(database, DATABASE_MODE);
  const note = txidFileOf(database);
  writeFileSync(`${note}.tmp`, `${formatTxid(txid)}\n`);
  renameSync(`${note}.tmp`, note);
}

/** Returns true if `prepareFollowed` has prepared the file. It must not be in use. */
export function isPreparedFollowed(database: string): boolean {
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const file = openSync(database, "r");
    try {
      readSync(file, header, 0, HEADER_BYTES, 0);
    } finally {
      closeSync(file);
    }
    requireAllclear(header, database);
    return header[JOURNAL_AT] === 1 && readTxid(database) !== undefined;
  } catch {
    return false;
  }
}

function requireAllclear(header: Buffer, database: string): void {
  const isSqlite = header.toString("latin1", 0, 16) === "SQLite format 3\0";
  if (!isSqlite || header.readUInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID) {
    throw new OperatorError(`${database} was restored from the log of another program's database.`);
  }
}
