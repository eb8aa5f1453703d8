import type { Database } from "bun:sqlite";
import { chmodSync, existsSync, linkSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CLI_ACTOR } from "../domain/actor";
import {
  attachReplaced,
  type CarriedOver,
  carryOver,
  columnsOf,
  describeCarried,
} from "./carry-over";
import type { DataDirectory } from "./data-directory";
import { OperatorError, isBusy } from "./errors";
import {
  copyDatabaseFiles,
  copyFile,
  moveCompanions,
  removeDatabase,
  editSoundDatabase,
  syncFile,
  COMPANION_SUFFIXES,
} from "./database-files";
import { lacksOwner, listRevived, type RevivedCredentials } from "./live-credentials";
import { MIGRATIONS } from "./migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, DATABASE_MODE, openSqlite, pragma } from "./open";
import { readApplied, requireKnownHistory } from "./schema-history";

/** Outcome of a restore. */
export interface RestoreReport extends RevivedCredentials {
  /** File that holds the replaced database; undefined if there was none. */
  kept: string | undefined;
  /** Changes since the backup that were carried over from the replaced database. */
  carried: CarriedOver[];
  /** True if users exist, but no owner can sign in. */
  lacksOwner: boolean;
}

/** Ends of the names of the copy and of the kept database. The time of the restore follows. */
const RESTORING = ".restoring";
const KEPT = ".before-restore";

/**
 * Replaces a data directory's database by a backup. The backup is copied, verified and completed with
 * what has been ended since (see `carryOver`) before anything is touched. The replaced database is kept
 * under another name. A crash leaves either database in place, whole, once `removeUnfinishedRestore` has
 * run. The caller holds the data directory's lock. `now` is in unix ms; `busyTimeoutMs` is the longest
 * wait for other processes.
 * Throws an OperatorError for a backup that cannot be used, and while the database is being read.
 */
export function restoreDatabase(
  directory: DataDirectory,
  file: string,
  { now = Date.now(), busyTimeoutMs = COMMAND_BUSY_TIMEOUT_MS } = {},
): RestoreReport {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  removeUnfinishedRestore(directory);
  const { database } = directory;
  const stamp = findStamp(database, now);
  const unfinished = `${database}${RESTORING}-${stamp}`;
  const kept = keptFile(database, stamp);
  const replaced = existsSync(database) ? database : undefined;
  try {
    copyDatabaseFiles(file, unfinished);
    const credentials = editSoundDatabase(unfinished, file, (sqlite) => {
      requireKnownHistory(readApplied(sqlite), MIGRATIONS, file);
      return reconcileCredentials(sqlite, replaced, now);
    });
    chmodSync(unfinished, DATABASE_MODE);
    syncFile(unfinished);
    if (replaced !== undefined) {
      checkpointLog(database, busyTimeoutMs);
      linkOrCopy(database, kept);
    }
    // Left behind, an old log would be replayed over the restored database.
    moveCompanions(database, kept);
    renameSync(unfinished, database);
    syncFile(dirname(database));
    return { kept: replaced && kept, ...credentials };
  } finally {
    removeUnfinishedRestore(directory);
  }
}

/** Returns the time as part of a file's name; a later one if a kept database has that name. */
function findStamp(database: string, now: number): string {
  for (let at = now; ; at++) {
    const stamp = new Date(at).toISOString().replace(/[:.]/g, "-");
    if (!existsSync(keptFile(database, stamp))) return stamp;
  }
}

/**
 * Removes the files of a restore that has not replaced the database, and puts the log of the database
 * back. The caller holds the data directory's lock.
 */
export function removeUnfinishedRestore({ database }: DataDirectory): void {
  const folder = dirname(database);
  const start = basename(database) + RESTORING;
  for (const name of readdirSync(folder).filter((name) => name.startsWith(start))) {
    const stamp = name.slice(start.length + 1);
    // The copy goes last: while it is there, a killed removal is repeated.
    if (stamp.endsWith("Z")) putLogBack(database, keptFile(database, stamp));
    removeDatabase(join(folder, name));
  }
}

function keptFile(database: string, stamp: string): string {
  return `${database}${KEPT}-${stamp}`;
}

/** Undoes the keeping of a database that has kept its own name too. */
function putLogBack(database: string, kept: string): void {
  // Another program has used the database without its log. Neither log may be overwritten.
  if (
    COMPANION_SUFFIXES.some((suffix) => existsSync(kept + suffix) && existsSync(database + suffix))
  )
    return;
  moveCompanions(kept, database);
  if (existsSync(database)) removeDatabase(kept);
}

/**
 * Deletes sessions and links, carries over what was ended, records the restore, and lists what works
 * again.
 */
function reconcileCredentials(
  sqlite: Database,
  replaced: string | undefined,
  now: number,
): Omit<RestoreReport, "kept"> {
  attachReplaced(sqlite, replaced);
  sqlite.run("BEGIN");
  endShortLivedCredentials(sqlite);
  const carried = carryOver(sqlite);
  recordRestore(sqlite, carried, now);
  sqlite.run("COMMIT");
  return { carried, ...listRevived(sqlite, now), lacksOwner: lacksOwner(sqlite) };
}

/** Deletes sessions and one-time links: they may have been ended or used since. */
function endShortLivedCredentials(sqlite: Database): void {
  for (const table of ["sessions", "one_time_links"]) {
    if (columnsOf(sqlite, "main", table).size > 0) sqlite.run(`DELETE FROM main.${table}`);
  }
}

/** Writes one row to the audit log of the restored database. */
function recordRestore(sqlite: Database, carried: readonly CarriedOver[], now: number): void {
  const columns = ["actor_kind", "actor_id", "actor_label", "action", "target_id", "summary", "at"];
  const names = columnsOf(sqlite, "main", "audit_log");
  if (!columns.every((column) => names.has(column))) return;
  const details =
    carried.length > 0 ? `, with ${describeCarried(carried)} from the replaced database` : "";
  sqlite
    .prepare(`INSERT INTO main.audit_log (${columns.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?)`)
    .run(
      CLI_ACTOR.kind,
      CLI_ACTOR.id,
      CLI_ACTOR.label,
      "database.restore",
      "database",
      `Restored a backup of the database${details}`,
      now,
    );
}

/** Gives a database a second name. It keeps its own, under which a database exists at every moment. */
function linkOrCopy(database: string, kept: string): void {
  try {
    linkSync(database, kept);
  } catch {
    // The file system has no hard links.
    copyFile(database, kept);
    chmodSync(kept, DATABASE_MODE);
    syncFile(kept);
  }
}

/** Throws an OperatorError while another process uses the database: its log could not be kept whole. */
function checkpointLog(database: string, busyTimeoutMs: number): void {
  let sqlite: Database | undefined;
  let isInUse = false;
  try {
    sqlite = openSqlite(database, busyTimeoutMs, { openingWaitMs: busyTimeoutMs });
    isInUse = pragma(sqlite, "wal_checkpoint(TRUNCATE)") === 1;
  } catch (error) {
    // A database too damaged to open is what a restore is for: it is kept with its log as it is.
    isInUse = isBusy(error);
  } finally {
    if (sqlite) closeSqlite(sqlite);
  }
  if (!isInUse) return;
  throw new OperatorError(`Another process is using ${database}. End it and try again.`);
}
