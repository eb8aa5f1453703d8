/* Copies of databases: those not in use, with their verification, and backups of one that is. */

import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { DataDirectory } from "./data-directory";
import { removeDatabase, syncFile } from "./database-files";
import { OperatorError } from "./errors";
import { closeSqlite, DATABASE_MODE, isAllclearDatabase, isSound, pragma, walOf } from "./open";

/** Returns the path of a database's rollback journal. */
function journalOf(database: string): string {
  return `${database}-journal`;
}

/** Mode of unfinished files: no other user can open them, or keep them open. */
const PRIVATE_MODE = 0o600;

const CHUNK_BYTES = 1024 * 1024;

/**
 * Last line of a backup: the SHA-256 of everything before it. SQLite ignores bytes after the last page of a database,
 * also in versions of Allclear that do not know the line, and every copy of the file has it.
 */
const DIGEST_LINE = /^\nallclear-sha256 ([\da-f]{64})\n$/;

const DIGEST_LINE_BYTES = 82;

/** Smallest page of SQLite: other databases consist of multiples of it. */
const PAGE_BYTES = 512;

/** Creates an empty file that only its owner can open. Throws EEXIST for a file or link that exists. */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, "wx", PRIVATE_MODE));
}

/** Appends the digest of a complete backup to its file. */
function appendDigest(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    const { size } = fstatSync(descriptor);
    writeAll(descriptor, Buffer.from(`\nallclear-sha256 ${hashOf(descriptor, size)}\n`), size);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Copies a database that is not in use: a backup without its digest, or another database with logs from a crash.
 * Only its owner can ever open the copy, even if the original is readable by others. Returns true if a digest has
 * shown that the copy is undamaged, and false if there is none. Throws an OperatorError.
 */
export function copyDatabaseFiles(from: string, to: string): boolean {
  try {
    removeDatabase(to);
    // It may be a pipe, whose end is known only after the copy.
    copyFile(from, to);
    if (removeDigest(to, from)) return true;
    const logs = [walOf, journalOf].filter((logOf) => existsSync(logOf(from)));
    if (logs.length === 0 && statSync(to).size % PAGE_BYTES !== 0) {
      throw new OperatorError(`${from} is not an Allclear database, or it is damaged.`);
    }
    for (const logOf of logs) copyFile(logOf(from), logOf(to));
    return false;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${from} could not be copied: ${(error as Error).message}`, error);
  }
}

/**
 * Removes the digest from a copied backup; returns false for a database without one. Throws an OperatorError with the
 * original's `name` if the content does not match.
 */
function removeDigest(file: string, name: string): boolean {
  const descriptor = openSync(file, "r+");
  try {
    const { size } = fstatSync(descriptor);
    const end = Math.max(0, size - DIGEST_LINE_BYTES);
    const line = Buffer.alloc(size - end);
    readSync(descriptor, line, 0, line.length, end);
    const digest = DIGEST_LINE.exec(line.toString("latin1"))?.[1];
    if (digest === undefined) return false;
    if (hashOf(descriptor, end) !== digest) {
      throw new OperatorError(
        `${name} is damaged, or was changed after the backup: its content does not match its digest.`,
      );
    }
    ftruncateSync(descriptor, end);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the SHA-256 of the first `bytes` of an open file, in hexadecimal. */
function hashOf(descriptor: number, bytes: number): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; at < bytes;) {
    const length = readSync(descriptor, chunk, 0, Math.min(chunk.length, bytes - at), at);
    if (length === 0) break;
    hasher.update(chunk.subarray(0, length));
    at += length;
  }
  return hasher.digest("hex");
}

/**
 * Copies one file; only its owner can open the copy. Throws EEXIST for a file or link that exists.
 * `copyFileSync` would copy the mode of the original.
 */
export function copyFile(from: string, to: string): void {
  const target = openSync(to, "wx", PRIVATE_MODE);
  try {
    const source = openSync(from, "r");
    try {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      for (let at = 0; ;) {
        const length = readSync(source, chunk);
        if (length === 0) return;
        writeAll(target, chunk.subarray(0, length), at);
        at += length;
      }
    } finally {
      closeSync(source);
    }
  } finally {
    closeSync(target);
  }
}

function writeAll(target: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length;) {
    at += writeSync(target, bytes, at, bytes.length - at, position + at);
  }
}

/** Throws an OperatorError unless the file is an undamaged Allclear database. `name` begins the message. */
function requireSoundDatabase(file: string, name: string): void {
  closeSqlite(openSoundDatabase(file, name));
}

/**
 * Runs `work` on a database that is not in use, writes its log into the file, and returns the result of
 * `work`. Throws the errors of `requireSoundDatabase` and of `work`.
 */
export function editSoundDatabase<T>(file: string, name: string, work: (sqlite: Database) => T): T {
  const sqlite = openSoundDatabase(file, name);
  try {
    const result = work(sqlite);
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
    return result;
  } finally {
    closeSqlite(sqlite);
  }
}

function openSoundDatabase(file: string, name: string): Database {
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(file, { readwrite: true, create: false, strict: true });
    sqlite.run("PRAGMA trusted_schema = OFF");
    if (!isAllclearDatabase(sqlite)) {
      throw new OperatorError(`${name} is not an Allclear database.`);
    }
    if (!isSound(sqlite)) throw new OperatorError(`${name} is damaged.`);
    return sqlite;
  } catch (error) {
    if (sqlite) closeSqlite(sqlite);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${name} is not an Allclear database, or it is damaged.`, error);
  }
}

/** Suffix of an unfinished copy, which a killed process leaves. */
const UNFINISHED = ".unfinished";

/**
 * Writes a consistent copy of an open database to `file`, also while others use it. The copy is written
 * under another name, for its owner alone, verified, completed with its digest and then renamed. Throws an
 * OperatorError for an existing file.
 */
export function copyDatabase(sqlite: Database, file: string, mode = DATABASE_MODE): void {
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name a new file.`);
  const unfinished = `${file}${UNFINISHED}`;
  try {
    removeDatabase(unfinished);
    // SQLite writes into an existing empty file. A new one would have the mode of the umask.
    createPrivateFile(unfinished);
    sqlite.prepare("VACUUM INTO ?").run(unfinished);
    requireSoundDatabase(unfinished, "The copy");
    appendDigest(unfinished);
    chmodSync(unfinished, mode);
    syncFile(unfinished);
    renameSync(unfinished, file);
    syncFile(dirname(file));
  } catch (error) {
    removeDatabase(unfinished);
    throw new OperatorError(
      `The backup ${file} could not be written: ${(error as Error).message}`,
      error,
    );
  }
}

/** Start of the names of copies from before an upgrade. */
const BEFORE_UPGRADE = "before-schema-";

/**
 * Copies the database into `backups/` before an upgrade to schema version `to` and returns the file. Its
 * name contains a hash of the content, so that repeated failed upgrades share one copy. Removes the files of
 * killed upgrades. Throws an OperatorError.
 */
export function copyBeforeUpgrade(sqlite: Database, directory: DataDirectory, to: number): string {
  const { backups } = directory;
  try {
    mkdirSync(backups, { recursive: true, mode: 0o750 });
    for (const name of readdirSync(backups)) {
      const isUnfinished = name.startsWith(BEFORE_UPGRADE) && name.includes(UNFINISHED);
      if (isUnfinished) rmSync(join(backups, name), { force: true });
    }
    // The file then contains everything, unless another process is reading the log.
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
    const file = join(backups, `${BEFORE_UPGRADE}${to}-${hashOfDatabase(directory.database)}.db`);
    if (!existsSync(file)) copyDatabase(sqlite, file);
    return file;
  } catch (error) {
    throw new OperatorError(
      `The database must be copied before it is migrated: ${(error as Error).message}`,
      error,
    );
  }
}

/** Returns the start of the SHA-256 of a database and its log, in hexadecimal. */
function hashOfDatabase(database: string): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (const file of [database, walOf(database)]) {
    if (!existsSync(file)) continue;
    const descriptor = openSync(file, "r");
    for (let length = 1; length > 0;) {
      length = readSync(descriptor, chunk);
      hasher.update(chunk.subarray(0, length));
    }
    // POSIX: closing any descriptor of the database would release the locks of SQLite. This one stays
    // open until the process ends.
    if (file !== database || process.platform === "win32") closeSync(descriptor);
  }
  return hasher.digest("hex").slice(0, 16);
}
