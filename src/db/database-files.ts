/* Files of databases that are not in use: creating, copying, verifying and removing them. */
import { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "./errors";
import { closeSqlite, isSound, pragma } from "./open";
import { isAllclearDatabase } from "./schema-history";

/** Suffixes of the files that SQLite keeps next to a database, in use or after a crash. */
export const COMPANION_SUFFIXES = ["-wal", "-shm", "-journal"] as const;

/** Returns the path of a database's write-ahead log. */
export function walOf(database: string): string {
  return `${database}-wal`;
}

/** Returns the path of the shared memory for a database's write-ahead log. */
export function shmOf(database: string): string {
  return `${database}-shm`;
}

/** Returns the path of a database's rollback journal. */
function journalOf(database: string): string {
  return `${database}-journal`;
}

/** Mode of unfinished files: no other user can open them, or keep them open. */
const PRIVATE_MODE = 0o600;

const COPY_CHUNK_BYTES = 1024 * 1024;

/** Creates an empty file that only its owner can open. Throws EEXIST for a file or link that exists. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, "wx", PRIVATE_MODE));
}

/**
 * Copies a database that is not in use, with logs from a crash. Only its owner can ever open the copy,
 * even if the original is readable by others. Throws an OperatorError.
 */
export function copyDatabaseFiles(from: string, to: string): void {
  try {
    removeDatabase(to);
    copyFile(from, to);
    for (const logOf of [walOf, journalOf]) {
      if (existsSync(logOf(from))) copyFile(logOf(from), logOf(to));
    }
  } catch (error) {
    throw new OperatorError(`${from} could not be copied: ${(error as Error).message}`, error);
  }
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
      const chunk = Buffer.allocUnsafe(COPY_CHUNK_BYTES);
      for (;;) {
        const length = readSync(source, chunk);
        if (length === 0) return;
        for (let at = 0; at < length;) at += writeSync(target, chunk, at, length - at);
      }
    } finally {
      closeSync(source);
    }
  } finally {
    closeSync(target);
  }
}

export function removeDatabase(file: string): void {
  for (const suffix of ["", ...COMPANION_SUFFIXES]) rmSync(file + suffix, { force: true });
}

/** Renames the existing logs of a database, and writes all changes of its directory to the disk. */
export function moveCompanions(from: string, to: string): void {
  for (const suffix of COMPANION_SUFFIXES) {
    if (existsSync(from + suffix)) renameSync(from + suffix, to + suffix);
  }
  syncFile(dirname(to));
}

/** Throws an OperatorError unless the file is an undamaged Allclear database. `name` begins the message. */
export function requireSoundDatabase(file: string, name: string): void {
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

/** Writes a file, or the entries of a directory, to the disk (fsync). */
export function syncFile(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
