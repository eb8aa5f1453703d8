import { Database } from "bun:sqlite";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { type DataDirectory, OperatorError } from "./data-directory";
import { SCHEMA_VERSION } from "./migrations";
import { COMMAND_BUSY_TIMEOUT_MS, isSound, openSqlite, pragma } from "./open";
import { isAllclearDatabase, schemaVersion } from "./schema-history";

/**
 * Writes a consistent copy of an open database to `file`, beside whoever else uses it. The copy is
 * made under another name, checked, and only then put in place; a file that exists is refused.
 */
export function copyDatabase(sqlite: Database, file: string): void {
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name a new file.`);
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  try {
    sqlite.prepare("VACUUM INTO ?").run(unfinished);
    verify(unfinished);
    syncFile(unfinished);
    renameSync(unfinished, file);
    syncFile(dirname(file));
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The backup could not be written: ${(error as Error).message}`, error);
  }
}

/**
 * Puts a backup in the place of a data directory's database. The backup is verified before anything
 * is touched and the present database is kept; the answer names the file that it is kept in.
 * The caller holds the data directory's lock.
 */
export function restoreDatabase(directory: DataDirectory, file: string): string | undefined {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const unfinished = `${directory.database}.restoring`;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(unfinished + suffix, { force: true });
  try {
    copyFileSync(file, unfinished);
    verify(unfinished);
    syncFile(unfinished);
    const kept = setAside(directory);
    renameSync(unfinished, directory.database);
    syncFile(directory.path);
    return kept;
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(unfinished + suffix, { force: true });
  }
}

/** Throws an OperatorError unless the file is a sound Allclear database that this build can use. */
function verify(file: string): void {
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(file, { readwrite: true, create: false, strict: true });
    if (!isAllclearDatabase(sqlite)) {
      throw new OperatorError(`${file} is not an Allclear database.`);
    }
    if (!isSound(sqlite)) throw new OperatorError(`${file} is damaged.`);
    const version = schemaVersion(sqlite);
    if (version > SCHEMA_VERSION) {
      throw new OperatorError(
        `${file} has schema version ${version}, this Allclear knows ${SCHEMA_VERSION}. Use the newer Allclear.`,
      );
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${file} is not an Allclear database, or it is damaged.`, error);
  } finally {
    sqlite?.close();
  }
}

/** Folds the present database's write-ahead log into it and renames it. */
function setAside(directory: DataDirectory): string | undefined {
  if (!existsSync(directory.database)) return undefined;
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  const kept = `${directory.database}.before-restore-${stamp}`;
  try {
    const sqlite = openSqlite(directory.database, COMMAND_BUSY_TIMEOUT_MS);
    pragma(sqlite, "wal_checkpoint(TRUNCATE)");
    sqlite.close();
  } catch {
    // A database too damaged to open is what a restore is for: it is kept with its log as it lies.
  }
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(directory.database + suffix))
      renameSync(directory.database + suffix, kept + suffix);
  }
  return kept;
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
