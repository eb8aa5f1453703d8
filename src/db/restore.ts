import type { Database } from "bun:sqlite";
import { chmodSync, existsSync, linkSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { CLI_ACTOR } from "../kernel/actor";
import {
  attachPresent,
  type CarriedOver,
  carryOver,
  columnsOf,
  describeCarried,
} from "./carry-over";
import type { DataDirectory } from "./data-directory";
import { OperatorError } from "./operator-error";
import {
  copyDatabaseFiles,
  copyFile,
  moveCompanions,
  removeDatabase,
  requireSoundDatabase,
  syncFile,
} from "./database-files";
import { lacksOwner, listRevived, type RevivedCredentials } from "./live-credentials";
import { MIGRATIONS } from "./migrations";
import { closeSqlite, COMMAND_BUSY_TIMEOUT_MS, DATABASE_MODE, openSqlite, pragma } from "./open";
import { readApplied, requireKnownHistory } from "./schema-history";

/** Outcome of a restore. */
export interface RestoreReport extends RevivedCredentials {
  /** File that holds the database from before; undefined if there was none. */
  kept: string | undefined;
  /** Changes since the backup that were carried over from that database. */
  carried: CarriedOver[];
  /** True if users exist, but no owner can sign in. */
  lacksOwner: boolean;
}

/**
 * Puts a backup in the place of a data directory's database, which is kept under another name. The
 * backup is copied, verified and completed with what has been ended since (see `carryOver`) before
 * anything is touched; a crash leaves either database in place, whole. The caller holds the data
 * directory's lock. `now` is in unix ms; `busyTimeoutMs` is how long other processes are waited for.
 * Throws an OperatorError for a backup that cannot be used, and while the database is being read.
 */
export function restoreDatabase(
  directory: DataDirectory,
  file: string,
  { now = Date.now(), busyTimeoutMs = COMMAND_BUSY_TIMEOUT_MS } = {},
): RestoreReport {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const { database } = directory;
  const unfinished = restoringFile(directory);
  const present = existsSync(database) ? database : undefined;
  let credentials: Omit<RestoreReport, "kept"> | undefined;
  try {
    copyDatabaseFiles(file, unfinished);
    requireSoundDatabase(unfinished, file, (sqlite) => {
      requireKnownHistory(readApplied(sqlite), MIGRATIONS, file);
      credentials = settleCredentials(sqlite, present, now);
    });
    chmodSync(unfinished, DATABASE_MODE);
    syncFile(unfinished);
    const kept = setAside(directory, now, busyTimeoutMs);
    renameSync(unfinished, database);
    syncFile(dirname(database));
    return { kept, ...(credentials as Omit<RestoreReport, "kept">) };
  } finally {
    removeDatabase(unfinished);
  }
}

/** Removes what a killed restore has left. The caller holds the data directory's lock. */
export function removeUnfinishedRestore(directory: DataDirectory): void {
  removeDatabase(restoringFile(directory));
}

function restoringFile(directory: DataDirectory): string {
  return `${directory.database}.restoring`;
}

/** Ends in a verified copy of a backup what has been ended since it was made. */
function settleCredentials(
  sqlite: Database,
  present: string | undefined,
  now: number,
): Omit<RestoreReport, "kept"> {
  attachPresent(sqlite, present);
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
  const details = carried.length > 0 ? `, with ${describeCarried(carried)} from before` : "";
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

/** Keeps the present database under another name, its write-ahead log folded into it. */
function setAside(
  { database }: DataDirectory,
  now: number,
  busyTimeoutMs: number,
): string | undefined {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, "-");
  const kept = `${database}.before-restore-${stamp}`;
  const isThere = existsSync(database);
  if (isThere) {
    foldLog(database, busyTimeoutMs);
    keep(database, kept);
  }
  // Left behind, an old log would be replayed over the database that takes this one's place.
  moveCompanions(database, kept);
  return isThere ? kept : undefined;
}

/** Gives a database a second name. It keeps its own: at no moment is there no database under that. */
function keep(database: string, kept: string): void {
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
function foldLog(database: string, busyTimeoutMs: number): void {
  let sqlite: Database | undefined;
  let isBusy = false;
  try {
    sqlite = openSqlite(database, busyTimeoutMs);
    isBusy = pragma(sqlite, "wal_checkpoint(TRUNCATE)") === 1;
  } catch {
    // A database too damaged to open is what a restore is for: it is kept with its log as it is.
  } finally {
    if (sqlite) closeSqlite(sqlite);
  }
  if (!isBusy) return;
  throw new OperatorError(`Another process is reading ${database}. End it and try again.`);
}
