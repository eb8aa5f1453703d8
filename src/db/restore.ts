import { Database } from "bun:sqlite";
import { chmodSync, existsSync, linkSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { CLI_ACTOR } from "../base/actor";
import { systemRandom } from "../base/hash";
import { MAIL_HOLDS_SETTING, type MailHold } from "../base/mail-address";
import type { DataDirectory } from "./data-directory";
import { copyDatabaseFiles, copyFile, editSoundDatabase } from "./copies";
import {
  keptFile,
  moveCompanions,
  removeUnfinishedRestore,
  RESTORING,
  syncFile,
} from "./database-files";
import { isBusy, OperatorError } from "./errors";
import { migrate, MIGRATIONS, requireKnownHistory } from "./migrations";
import {
  APPLICATION_ID,
  closeSqlite,
  COMMAND_BUSY_TIMEOUT_MS,
  DATABASE_MODE,
  openSqlite,
  pragma,
  readApplied,
} from "./open";
import { GRANT_KEY, newGrantKey } from "./tables/page-access";
import { CARRIED_TABLES, type CredentialKind } from "./restore-rules";

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

/** A credential of the restored database that is accepted or signs webhooks. */
interface LiveCredential {
  kind: CredentialKind;
  id: string;
  /** Name for people, without secrets. */
  label: string;
}

/** Credentials that work in a restored database and are missing in the replaced one. */
interface RevivedCredentials {
  /** By kind and id. */
  revived: LiveCredential[];
  /** False if the replaced database, or one of its tables, is missing or damaged. */
  couldReadReplaced: boolean;
}

/** Number of rows that one rule changed, with their noun. */
interface CarriedOver {
  what: string;
  count: number;
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
/** Deletes sessions and links, carries over revocations, and lists the credentials that work again. */
function reconcileCredentials(
  sqlite: Database,
  replaced: string | undefined,
  now: number,
): Omit<RestoreReport, "kept" | "isVerified"> {
  attachReplaced(sqlite, replaced);
  // Without the table, passwords alone would open the accounts of users who have a second factor.
  if (lacksTableOfSecondFactors(sqlite)) migrate(sqlite, undefined);
  // What belongs to deleted rows is deleted too.
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("BEGIN");
  endShortLivedCredentials(sqlite);
  cancelMails(sqlite, now);
  const carried = carryOver(sqlite);
  renewGrantKey(sqlite, now);
  const holdsMailings = hasSubscribers(sqlite) && !canReadWhoLeft(sqlite);
  if (holdsMailings) holdMailings(sqlite, now);
  recordRestore(sqlite, carried, now);
  sqlite.run("COMMIT");
  return { carried, ...listRevived(sqlite, now), lacksOwner: lacksOwner(sqlite), holdsMailings };
}

/**
 * Attaches an empty database as `replaced` and copies the credentials of the database at `file` into it,
 * except for tables that are missing or damaged. Copies nothing if `file` is undefined.
 */
export function attachReplaced(sqlite: Database, file: string | undefined): void {
  sqlite.run("ATTACH ':memory:' AS replaced");
  if (file === undefined) return;
  let replaced: Database | undefined;
  try {
    replaced = new Database(file, { readwrite: true, create: false, strict: true });
    if (pragma(replaced, "application_id") !== APPLICATION_ID) return;
    for (const [table, carried] of Object.entries(CARRIED_TABLES)) {
      copyTable(replaced, sqlite, table, carried);
    }
    addTokensOfOtherSchema(sqlite);
  } catch {
    // Not a database, or its header is damaged.
  } finally {
    if (replaced) closeSqlite(replaced);
  }
}

/** Returns true if the replaced database has second factors, which the schema of the restored one cannot hold. */
function lacksTableOfSecondFactors(sqlite: Database): boolean {
  if (hasTable(sqlite, "main", "second_factors")) return false;
  if (!hasTable(sqlite, "replaced", "second_factors")) return false;
  return sqlite.prepare("SELECT 1 FROM replaced.second_factors LIMIT 1").get() !== null;
}

function copyTable(
  from: Database,
  to: Database,
  table: string,
  { columns: needed, optional = [] }: (typeof CARRIED_TABLES)[string],
): void {
  const stored = columnsOf(from, "main", table);
  const names = [...needed, ...optional.filter((column) => stored.has(column))];
  const columns = names.join(", ");
  let rows: (string | number | null | Uint8Array)[][];
  try {
    if (pragma(from, `integrity_check(${table})`) !== "ok") return;
    rows = from.prepare<never, []>(`SELECT ${columns} FROM ${table}`).values() as typeof rows;
  } catch {
    return;
  }
  to.run(`CREATE TABLE replaced.${table} (${columns})`);
  const places = names.map(() => "?").join(", ");
  const insert = to.prepare(`INSERT INTO replaced.${table} VALUES (${places})`);
  for (const row of rows) insert.run(...row);
  // Rules look rows up by the first column, also 100,000 of them.
  to.run(`CREATE INDEX replaced.${table}_by_key ON ${table} (${names[0]})`);
}

/**
 * Adds the tokens of heartbeats to `replaced` as the other schema stores them: in a table, or in a column
 * of the monitors. The restored database may have either schema.
 */
function addTokensOfOtherSchema(sqlite: Database): void {
  const hasColumn = columnsOf(sqlite, "replaced", "monitors").has("token_hash");
  const hasTokens = hasTable(sqlite, "replaced", "monitor_tokens");
  if (hasColumn && !hasTokens) {
    sqlite.run(`CREATE TABLE replaced.monitor_tokens AS
      SELECT token_hash AS hash, id AS monitor_id, 'native' AS kind, updated_at AS created_at
      FROM replaced.monitors WHERE token_hash IS NOT NULL`);
  }
  if (hasTokens && !hasColumn && hasTable(sqlite, "replaced", "monitors")) {
    sqlite.run("ALTER TABLE replaced.monitors ADD COLUMN token_hash");
    sqlite.run(`UPDATE replaced.monitors AS o SET token_hash = (
      SELECT hash FROM replaced.monitor_tokens WHERE monitor_id = o.id AND kind = 'native')`);
  }
}

/** Deletes sessions, sign-ins and one-time links, which may have been ended or used after the backup. */
function endShortLivedCredentials(sqlite: Database): void {
  for (const table of ["sessions", "sign_in_steps", "one_time_links"]) {
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

/** Applies every rule whose tables could be read, in the transaction of the caller. */
function carryOver(sqlite: Database): CarriedOver[] {
  const carried: CarriedOver[] = [];
  for (const [table, { rules }] of Object.entries(CARRIED_TABLES)) {
    for (const { what, alsoReads = table, column, sql } of rules) {
      const isReadable = (["main", "replaced"] as const).every(
        (schema) =>
          [table, alsoReads].every((name) => hasTable(sqlite, schema, name)) &&
          (column === undefined || columnsOf(sqlite, schema, table).has(column)),
      );
      if (!isReadable) continue;
      const { changes: count } = sqlite.prepare(sql).run();
      if (count > 0 && what !== undefined) carried.push({ what, count });
    }
  }
  return carried;
}

/** Replaces the key that signs visits to private pages, which ends all visits. `now` is in unix ms. */
function renewGrantKey(sqlite: Database, now: number): void {
  if (!columnsOf(sqlite, "main", "pages").has("password_id")) return;
  sqlite.run("DELETE FROM main.settings WHERE name = ?", [GRANT_KEY]);
  // Rules may come from the replaced database, while the backup has no key.
  sqlite
    .prepare(
      `INSERT INTO main.settings (name, value, updated_at) SELECT ?, ?, ?
       WHERE EXISTS (SELECT 1 FROM main.pages WHERE password_id IS NOT NULL OR has_links = 1)`,
    )
    .run(GRANT_KEY, JSON.stringify(newGrantKey(systemRandom)), now);
}

function hasSubscribers(sqlite: Database): boolean {
  if (!hasTable(sqlite, "main", "subscribers")) return false;
  return (
    sqlite.prepare("SELECT 1 FROM main.subscribers WHERE status = 'active' LIMIT 1").get() !== null
  );
}

/** True if the replaced database says who unsubscribed, was erased or was suppressed after the backup. */
function canReadWhoLeft(sqlite: Database): boolean {
  const isReadable = (["subscribers", "suppressions", "settings"] as const).every((table) =>
    hasTable(sqlite, "replaced", table),
  );
  return isReadable && !isHeldSinceRestore(sqlite);
}

/** True if mailings of the replaced database are held since an earlier restore could not read who left. */
function isHeldSinceRestore(sqlite: Database): boolean {
  return readHolds(sqlite, "replaced").some(isOfRestore);
}

/** Holds all mailings of the restored database from `now` (unix ms) until an admin goes on. */
function holdMailings(sqlite: Database, now: number): void {
  const holds = readHolds(sqlite, "main");
  if (holds.some(isOfRestore)) return;
  // One with another reason ends, since this is the reason that an admin has to know.
  const ended = holds.map((each) => ({ ...each, endedAt: each.endedAt ?? now }));
  const hold: MailHold = { reason: "restore", at: now, since: now, endedAt: null };
  sqlite
    .prepare("INSERT OR REPLACE INTO main.settings (name, value, updated_at) VALUES (?, ?, ?)")
    .run(MAIL_HOLDS_SETTING, JSON.stringify([...ended, hold]), now);
}

function isOfRestore({ reason, endedAt }: MailHold): boolean {
  return reason === "restore" && endedAt === null;
}

function readHolds(sqlite: Database, schema: "main" | "replaced"): MailHold[] {
  const stored = sqlite
    .prepare<{ value: string }, [string]>(`SELECT value FROM ${schema}.settings WHERE name = ?`)
    .get(MAIL_HOLDS_SETTING);
  return stored ? (JSON.parse(stored.value) as MailHold[]) : [];
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

/** Returns the counts as one phrase: "1 revoked key, 2 changed passwords". */
export function describeCarried(carried: readonly CarriedOver[]): string {
  return carried
    .map(({ what, count }) => `${count} ${count === 1 ? what : pluralOfFirstNoun(what)}`)
    .join(", ");
}

/** Appends an "s" to the noun, which is the word before " of " or else the last one. */
function pluralOfFirstNoun(what: string): string {
  const [noun = "", ...rest] = what.split(" of ");
  return [`${noun}s`, ...rest].join(" of ");
}

/**
 * Lists the credentials that work at `now` (unix ms), except for rows that the attached `replaced` still
 * has, whose revocations were carried over.
 */
function listRevived(sqlite: Database, now: number): RevivedCredentials {
  let couldReadReplaced = true;
  const revived: LiveCredential[] = [];
  for (const [table, { credentials = [] }] of Object.entries(CARRIED_TABLES)) {
    for (const { kind, column, alsoReads = table, label, isLive, isConfirmed } of credentials) {
      const needed = [table, alsoReads];
      if (!needed.every((name) => hasTable(sqlite, "main", name))) continue;
      if (column !== undefined && !columnsOf(sqlite, "main", table).has(column)) continue;
      const isKnown = needed.every((name) => hasTable(sqlite, "replaced", name));
      const confirmed = isKnown
        ? `id IN (SELECT id FROM replaced.${table} WHERE ${isConfirmed})`
        : "FALSE";
      const rows = sqlite
        .prepare<{ id: string; label: string }, [{ now: number }]>(
          `SELECT CAST(id AS TEXT) AS id, ${label} AS label FROM main.${table}
           WHERE ${isLive} AND NOT (${confirmed}) ORDER BY id`,
        )
        .all({ now });
      // A table without live credentials revives none, even if the replaced schema lacks the table.
      couldReadReplaced &&= isKnown || rows.length === 0;
      revived.push(...rows.map((row) => ({ kind, ...row })));
    }
  }
  return { revived, couldReadReplaced };
}

/** Returns true if there are users, but no owner who can sign in. */
function lacksOwner(sqlite: Database): boolean {
  if (!hasTable(sqlite, "main", "users")) return false;
  const hasIdentity = hasTable(sqlite, "main", "identities")
    ? "id IN (SELECT user_id FROM main.identities)"
    : "FALSE";
  const row = sqlite
    .prepare<{ users: number; owners: number }, []>(
      `SELECT count(*) AS users, count(*) FILTER (WHERE role = 'owner'
         AND (password_hash IS NOT NULL OR ${hasIdentity})
         AND disabled_at IS NULL AND deleted_at IS NULL) AS owners
       FROM main.users`,
    )
    .get();
  return row !== null && row.users > 0 && row.owners === 0;
}

/** Returns true if the table exists in the database of that name, with the columns that its rules read. */
function hasTable(sqlite: Database, schema: "main" | "replaced", table: string): boolean {
  const names = columnsOf(sqlite, schema, table);
  return CARRIED_TABLES[table]?.columns.every((column) => names.has(column)) ?? false;
}

/** Names of a table's columns; empty if there is no such table. */
function columnsOf(sqlite: Database, schema: string, table: string): Set<string> {
  const rows = sqlite
    .prepare<{ name: string }, [string, string]>("SELECT name FROM pragma_table_info(?, ?)")
    .all(table, schema);
  return new Set(rows.map(({ name }) => name));
}
