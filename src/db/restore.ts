import type { Database } from "bun:sqlite";
import { chmodSync, existsSync, linkSync, renameSync } from "node:fs";
import { type DataDirectory, OperatorError } from "./data-directory";
import {
  copyDatabaseFiles,
  moveCompanions,
  removeDatabase,
  requireSoundDatabase,
  syncFile,
} from "./database-files";
import { MIGRATIONS } from "./migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, DATABASE_MODE, openSqlite, pragma } from "./open";
import { readApplied, requireKnownHistory } from "./schema-history";

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
    copyDatabaseFiles(file, unfinished);
    requireSoundDatabase(unfinished, file, (sqlite) => {
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

/** Keeps the present database under another name, its write-ahead log folded into it. */
function setAside(directory: DataDirectory): string | undefined {
  const { database } = directory;
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  const kept = `${database}.before-restore-${stamp}`;
  const isThere = existsSync(database);
  if (isThere) foldLog(database);
  // Left behind, an old log would be replayed over the database that takes this one's place.
  moveCompanions(database, kept);
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
