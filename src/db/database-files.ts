/** Files of databases that are not in use: making, copying, verifying and removing them. */
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
import { OperatorError } from "./errors";
import { closeSqlite, isSound, pragma } from "./open";
import { isAllclearDatabase } from "./schema-history";

/** Suffixes of the files that SQLite keeps next to a database in use, and after a crash. */
export const COMPANION_SUFFIXES = ["-wal", "-shm", "-journal"] as const;

/** Returns the path of a database's write-ahead log. */
export function walOf(database: string): string {
  return `${database}-wal`;
}

/** Returns the path of the shared memory by which processes use a database's write-ahead log. */
export function shmOf(database: string): string {
  return `${database}-shm`;
}

/** Returns the path of a database's rollback journal. */
export function journalOf(database: string): string {
  return `${database}-journal`;
}

/** Mode of a file that is being made: no other user can open it, nor keep a descriptor of it. */
const PRIVATE_MODE = 0o600;

const COPY_CHUNK_BYTES = 1024 * 1024;

/** Creates an empty file that only its owner can open. Throws EEXIST for a file or link that exists. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, "wx", PRIVATE_MODE));
}

/**
 * Copies a database that is not in use, with the logs that a crash may have left. The copy is for its
 * owner alone from the start, even if the original is not. Throws an OperatorError.
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
 * Copies one file; the copy is for its owner alone. Throws EEXIST for a file or link that exists.
 * `copyFileSync` would give the copy the mode of the original.
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

/** Renames the logs that lie next to a database, if any. */
export function moveCompanions(from: string, to: string): void {
  for (const suffix of COMPANION_SUFFIXES) {
    if (existsSync(from + suffix)) renameSync(from + suffix, to + suffix);
  }
}

/**
 * Throws an OperatorError unless the file is a sound Allclear database. `name` is its name at the
 * beginning of a sentence.
 */
export function requireSoundDatabase(file: string, name: string): void {
  closeSqlite(openSoundDatabase(file, name));
}

/**
 * Runs `work` on a database that is not in use, leaves everything in the one file, and returns what
 * `work` returned. Throws an OperatorError as `requireSoundDatabase` does, and the errors of `work` as they are.
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

/** Forces a file, or a directory's entries, to the disk. */
export function syncFile(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
