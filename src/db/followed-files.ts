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
import { OperatorError } from "./errors";
import { APPLICATION_ID, DATABASE_MODE } from "./open";

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
export interface FollowedVersion {
  /** Differs whenever the content of the database does, for settled versions. */
  key: string;
  /**
   * True if the note of the last transaction was written after the database, and long enough ago that a later change
   * of the database would have another time. Otherwise the content may be half of a transaction.
   */
  isSettled: boolean;
}

/** Returns the state of the files. Opens neither of them; undefined if one is missing. */
export function readVersion(database: string, now: number): FollowedVersion | undefined {
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
