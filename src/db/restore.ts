import type { Database } from "bun:sqlite";
import { chmodSync, existsSync, linkSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { CLI_ACTOR } from "../base/actor";
import {
  attachReplaced,
  type CarriedOver,
  carryOver,
  describeCarried,
  holdMailings,
  isHeldSinceRestore,
} from "./carry-over";
import {
  columnsOf,
  hasCredentials,
  lacksOwner,
  listRevived,
  type RevivedCredentials,
} from "./credentials";
import type { DataDirectory } from "./data-directory";
import {
  copyDatabaseFiles,
  copyFile,
  editSoundDatabase,
  keptFile,
  moveCompanions,
  removeUnfinishedRestore,
  RESTORING,
  syncFile,
} from "./database-files";
import { isBusy, OperatorError } from "./errors";
import { MIGRATIONS, requireKnownHistory } from "./migrations";
import {
  closeSqlite,
  COMMAND_BUSY_TIMEOUT_MS,
  DATABASE_MODE,
  openSqlite,
  pragma,
  readApplied,
} from "./open";

/** Outcome of a restore. */
export interface RestoreReport extends RevivedCredentials {
  /** File that holds the replaced database; undefined if there was none. */
  kept: string | undefined;
  /** True if a digest has shown that the backup is undamaged; false if it has none. */
  isVerified: boolean;
  /** Changes since the backup that were carried over from the replaced database. */
  carried: CarriedOver[];
  /** True if users exist, but no owner can sign in. */
  lacksOwner: boolean;
  /** True if mailings are held, since it is not known who unsubscribed after the backup. */
  holdsMailings: boolean;
}

/**
 * Replaces the database of a data directory by a backup. The backup is first copied, verified and completed
 * with later revocations (see `carryOver`). The replaced database is kept under another name. After a crash,
 * `removeUnfinishedRestore` leaves one of the two databases in place, complete. The caller holds the lock of
 * the data directory. `now` is in unix ms; `busyTimeoutMs` is the longest wait for other processes.
 * Throws an OperatorError for an unusable backup, and while another process reads the database.
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
    const isVerified = copyDatabaseFiles(file, unfinished);
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
    // SQLite would replay an old log over the restored database. After a power cut, too, the old database
    // and its log must have their new names before the next rename.
    moveCompanions(database, kept);
    renameSync(unfinished, database);
    syncFile(dirname(database));
    return { kept: replaced && kept, isVerified, ...credentials };
  } finally {
    removeUnfinishedRestore(directory);
  }
}

/** Returns the time for names of files; a later time if a kept database already has that name. */
function findStamp(database: string, now: number): string {
  for (let at = now; ; at++) {
    const stamp = new Date(at).toISOString().replace(/[:.]/g, "-");
    if (!existsSync(keptFile(database, stamp))) return stamp;
  }
}

/** Deletes sessions and links, carries over revocations, and lists the credentials that work again. */
function reconcileCredentials(
  sqlite: Database,
  replaced: string | undefined,
  now: number,
): Omit<RestoreReport, "kept" | "isVerified"> {
  attachReplaced(sqlite, replaced);
  // What belongs to deleted rows is deleted too.
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("BEGIN");
  endShortLivedCredentials(sqlite);
  cancelMails(sqlite, now);
  const carried = carryOver(sqlite);
  const holdsMailings = hasSubscribers(sqlite) && !canReadWhoLeft(sqlite);
  if (holdsMailings) holdMailings(sqlite, now);
  recordRestore(sqlite, carried, now);
  sqlite.run("COMMIT");
  return { carried, ...listRevived(sqlite, now), lacksOwner: lacksOwner(sqlite), holdsMailings };
}

/** Deletes sessions and one-time links, which may have been ended or used after the backup. */
function endShortLivedCredentials(sqlite: Database): void {
  for (const table of ["sessions", "one_time_links"]) {
    if (columnsOf(sqlite, "main", table).size > 0) sqlite.run(`DELETE FROM main.${table}`);
  }
}

/** Ends mails and sign-ups that waited when the backup was made: what they say is old. `now` is in unix ms. */
function cancelMails(sqlite: Database, now: number): void {
  if (columnsOf(sqlite, "main", "mails").size === 0) return;
  sqlite.run(`UPDATE main.mailings SET state = 'stopped', cancelled = cancelled + (
      SELECT count(*) FROM main.mails AS m WHERE m.mailing_id = mailings.id AND m.status = 'pending')
    WHERE state IN ('expanding', 'sending', 'held')`);
  sqlite.run(
    `UPDATE main.mails SET status = 'cancelled', next_try_at = NULL, finished_at = ?
     WHERE status = 'pending'`,
    [now],
  );
  sqlite.run("UPDATE main.mail_requests SET state = 'unsent' WHERE state = 'waiting'");
}

function hasSubscribers(sqlite: Database): boolean {
  if (!hasCredentials(sqlite, "main", "subscribers")) return false;
  return (
    sqlite.prepare("SELECT 1 FROM main.subscribers WHERE status = 'active' LIMIT 1").get() !== null
  );
}

/** True if the replaced database says who unsubscribed, was erased or was suppressed after the backup. */
function canReadWhoLeft(sqlite: Database): boolean {
  const isReadable = (["subscribers", "suppressions", "settings"] as const).every((table) =>
    hasCredentials(sqlite, "replaced", table),
  );
  return isReadable && !isHeldSinceRestore(sqlite);
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

/** Gives a database a second name, so that its own name always leads to a database. */
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

/** Writes the log into the database. Throws an OperatorError while another process uses the database. */
function checkpointLog(database: string, busyTimeoutMs: number): void {
  let sqlite: Database | undefined;
  let isInUse = false;
  try {
    sqlite = openSqlite(database, busyTimeoutMs, { openingWaitMs: busyTimeoutMs });
    isInUse = pragma(sqlite, "wal_checkpoint(TRUNCATE)") === 1;
  } catch (error) {
    // A damaged database, which is the usual reason for a restore, is kept with its log unchanged.
    isInUse = isBusy(error);
  } finally {
    if (sqlite) closeSqlite(sqlite);
  }
  if (!isInUse) return;
  throw new OperatorError(`Another process is using ${database}. End it and try again.`);
}
