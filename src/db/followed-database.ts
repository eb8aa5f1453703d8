import { Problem, unavailable } from "../errors/problem";
import type { Clock } from "../kernel/clock";
import { createSignal } from "../kernel/signal";
import type { Db } from "./database";
import { readDiskSpace } from "./disk";
import { isBusy, storageFaultOf } from "./errors";
import {
  type FollowedConnection,
  openFollowedConnection,
  type UnreadableReason,
} from "./followed-connection";
import { readVersion, type Txid } from "./followed-files";
import { pragma } from "./open";

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
