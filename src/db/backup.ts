import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { type DataDirectory, OperatorError } from "./data-directory";
import { MIGRATIONS } from "./migrations";
import {
  closeSqlite,
  COMMAND_BUSY_TIMEOUT_MS,
  DATABASE_MODE,
  isSound,
  openSqlite,
  pragma,
} from "./open";
import { isAllclearDatabase, readApplied, requireKnownHistory } from "./schema-history";

/** What SQLite keeps beside a database while it is in use, and after a crash. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/**
 * Writes a consistent copy of an open database to `file`, beside whoever else uses it. The copy is
 * made under another name, checked, and only then put in place; a file that exists is refused.
 */
export function copyDatabase(sqlite: Database, file: string): void {
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name a new file.`);
  const unfinished = `${file}.unfinished`;
  try {
    removeDatabase(unfinished);
    sqlite.prepare("VACUUM INTO ?").run(unfinished);
    examine(unfinished, "The copy");
    chmodSync(unfinished, DATABASE_MODE);
    syncFile(unfinished);
    renameSync(unfinished, file);
    syncFile(dirname(file));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new OperatorError(
      `The backup ${file} could not be written: ${(error as Error).message}`,
      error,
    );
  }
}

/**
 * Puts a backup in the place of a data directory's database. The backup is verified before anything
 * is touched and the present database is kept; the answer names the file that it is kept in. The
 * backup's sessions and one-time links are left behind: they may have been ended since.
 * The caller holds the data directory's lock.
 */
export function restoreDatabase(directory: DataDirectory, file: string): string | undefined {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const unfinished = `${directory.database}.restoring`;
  try {
    copyFiles(file, unfinished);
    examine(unfinished, file, (sqlite) => {
      requireKnownHistory(readApplied(sqlite), MIGRATIONS, file);
      endCredentialsOfThen(sqlite);
    });
    chmodSync(unfinished, DATABASE_MODE);
    syncFile(unfinished);
    const kept = setAside(directory);
    renameSync(unfinished, directory.database);
    syncFile(directory.path);
    return kept;
  } finally {
    removeDatabase(unfinished);
  }
}

/** Deletes what opened something when the backup was made. An older backup has no such tables. */
function endCredentialsOfThen(sqlite: Database): void {
  for (const table of ["sessions", "one_time_links"]) {
    const exists = sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table);
    if (exists) sqlite.run(`DELETE FROM ${table}`);
  }
}

/** Copies a database that is not in use, with what a crash may have left beside it. */
function copyFiles(from: string, to: string): void {
  try {
    removeDatabase(to);
    copyFileSync(from, to);
    for (const suffix of ["-wal", "-journal"]) {
      if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
    }
  } catch (error) {
    throw new OperatorError(`${from} could not be copied: ${(error as Error).message}`, error);
  }
}

function removeDatabase(file: string): void {
  for (const suffix of ["", ...COMPANIONS]) rmSync(file + suffix, { force: true });
}

/**
 * Throws an OperatorError unless the file is a sound Allclear database, and whatever `judge` throws.
 * Leaves all of it in the one file. `what` names it at the beginning of a sentence.
 */
function examine(file: string, what: string, judge?: (sqlite: Database) => void): void {
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(file, { readwrite: true, create: false, strict: true });
    sqlite.run("PRAGMA trusted_schema = OFF");
    if (!isAllclearDatabase(sqlite)) {
      throw new OperatorError(`${what} is not an Allclear database.`);
    }
    if (!isSound(sqlite)) throw new OperatorError(`${what} is damaged.`);
    judge?.(sqlite);
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${what} is not an Allclear database, or it is damaged.`, error);
  } finally {
    if (sqlite) closeSqlite(sqlite);
  }
}

/** Keeps the present database under another name, its write-ahead log folded into it. */
function setAside(directory: DataDirectory): string | undefined {
  const { database } = directory;
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  const kept = `${database}.before-restore-${stamp}`;
  const isThere = existsSync(database);
  if (isThere) foldLog(database);
  // Left behind, an old log would be replayed over the database that takes this one's place.
  for (const suffix of COMPANIONS) {
    if (existsSync(database + suffix)) renameSync(database + suffix, kept + suffix);
  }
  if (!isThere) return undefined;
  try {
    // Linked rather than moved: at no moment is there no database under the name.
    linkSync(database, kept);
  } catch {
    renameSync(database, kept);
  }
  return kept;
}

function foldLog(database: string): void {
  try {
    const sqlite = openSqlite(database, COMMAND_BUSY_TIMEOUT_MS);
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
    closeSqlite(sqlite);
  } catch {
    // A database too damaged to open is what a restore is for: it is kept with its log as it lies.
  }
}

/** Forces a file, or a directory's entries, to the disk. */
function syncFile(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
