import { Database } from "bun:sqlite";
import { MAIL_HOLDS_SETTING, type MailHold } from "../base/mail-address";
import {
  columnsOf,
  CREDENTIAL_TABLES,
  type CredentialTable,
  hasCredentials,
  IS_LATER,
  NEWER_VERSION,
  OPTIONAL_COLUMNS,
  type Rule,
} from "./credentials";
import { APPLICATION_ID, closeSqlite, pragma } from "./open";

/** SQL that selects the ids of monitors that both databases have and that were changed after the backup. */
const CHANGED_MONITORS = `SELECT r.id FROM main.monitors AS r
  JOIN replaced.monitors AS o ON o.id = r.id
  WHERE o.deleted_at IS NULL AND r.deleted_at IS NULL AND ${IS_LATER}`;

/** Rules that keep ended tokens of heartbeats ended. */
const TOKEN_RULES: readonly Rule[] = [
  {
    // Only in a backup from before the table of tokens.
    what: "rotated heartbeat token",
    table: "monitors",
    optionalColumn: "token_hash",
    sql: `UPDATE main.monitors AS r SET token_hash = o.token_hash, ${NEWER_VERSION}
      FROM replaced.monitors AS o
      WHERE o.id = r.id AND o.token_hash IS NOT NULL AND r.token_hash IS NOT NULL
        AND o.token_hash <> r.token_hash AND ${IS_LATER}`,
  },
  {
    what: "ended heartbeat token",
    table: "monitor_tokens",
    alsoReads: "monitors",
    sql: `DELETE FROM main.monitor_tokens WHERE monitor_id IN (${CHANGED_MONITORS})
        AND hash NOT IN (SELECT hash FROM replaced.monitor_tokens)`,
  },
  {
    what: "new heartbeat token",
    table: "monitor_tokens",
    alsoReads: "monitors",
    sql: `INSERT INTO main.monitor_tokens (hash, monitor_id, kind, created_at)
      SELECT hash, monitor_id, kind, created_at FROM replaced.monitor_tokens
      WHERE monitor_id IN (${CHANGED_MONITORS})
        AND hash NOT IN (SELECT hash FROM main.monitor_tokens)`,
  },
  {
    // The last rule about tokens, since it makes the restored monitors the later ones.
    table: "monitors",
    alsoReads: "monitor_tokens",
    sql: `UPDATE main.monitors AS r SET ${NEWER_VERSION} FROM replaced.monitors AS o
      WHERE o.id = r.id AND r.id IN (${CHANGED_MONITORS})
        AND r.id IN (SELECT monitor_id FROM main.monitor_tokens)`,
  },
];

/**
 * Adds the tokens of heartbeats to `replaced` as the other schema stores them: in a table, or in a column
 * of the monitors. The restored database may have either schema.
 */
function addTokensOfOtherSchema(sqlite: Database): void {
  const hasColumn = columnsOf(sqlite, "replaced", "monitors").has("token_hash");
  const hasTable = hasCredentials(sqlite, "replaced", "monitor_tokens");
  if (hasColumn && !hasTable) {
    sqlite.run(`CREATE TABLE replaced.monitor_tokens AS
      SELECT token_hash AS hash, id AS monitor_id, 'native' AS kind, updated_at AS created_at
      FROM replaced.monitors WHERE token_hash IS NOT NULL`);
  }
  if (hasTable && !hasColumn && hasCredentials(sqlite, "replaced", "monitors")) {
    sqlite.run("ALTER TABLE replaced.monitors ADD COLUMN token_hash");
    sqlite.run(`UPDATE replaced.monitors AS o SET token_hash = (
      SELECT hash FROM replaced.monitor_tokens WHERE monitor_id = o.id AND kind = 'native')`);
  }
}

/** SQL condition: a subscriber of the backup was erased since. One of another page can have the same address. */
const IS_ERASED = `NOT EXISTS (SELECT 1 FROM replaced.subscribers AS o WHERE o.id = r.id)
  AND EXISTS (SELECT 1 FROM replaced.suppressions AS o
    WHERE o.address_hmac = r.address_hmac AND o.reason = 'erased' AND o.at >= r.updated_at)`;

/** Mails that answered sign-ups of addresses which were erased later, found by the index of their subjects. */
const ANSWERS_TO_ERASED = `replaced.suppressions AS o CROSS JOIN main.mails AS m
    ON m.subject_id = 'signup_' || o.address_hmac AND m.mailing_id IS NULL
  WHERE o.reason = 'erased' AND o.at >= m.created_at`;

/** Rules that keep a restored database from mailing people who unsubscribed. */
export const MAIL_RULES: readonly Rule[] = [
  {
    table: "subscribers",
    alsoReads: "suppressions",
    sql: `DELETE FROM main.mail_requests WHERE (page_id, address_key) IN (
      SELECT r.page_id, r.address_key FROM main.subscribers AS r WHERE ${IS_ERASED})`,
  },
  {
    table: "subscribers",
    alsoReads: "suppressions",
    sql: `DELETE FROM main.mail_reports WHERE mail_id IN (
      SELECT m.id FROM main.mails AS m, main.subscribers AS r
      WHERE m.subscriber_id = r.id AND ${IS_ERASED})`,
  },
  {
    // With choices and mails, by their foreign keys.
    what: "erased subscriber",
    table: "subscribers",
    alsoReads: "suppressions",
    sql: `DELETE FROM main.subscribers AS r WHERE ${IS_ERASED}`,
  },
  {
    // Sign-ups and their mails contain the address as well. A sign-up has no mark of its own.
    table: "suppressions",
    sql: `DELETE FROM main.mail_requests WHERE id IN (
      SELECT json_extract(m.params, '$.request') FROM ${ANSWERS_TO_ERASED})`,
  },
  {
    table: "suppressions",
    sql: `DELETE FROM main.mails WHERE id IN (SELECT m.id FROM ${ANSWERS_TO_ERASED})`,
  },
  {
    // A mark finds no address in a text, so that all unmatched reports from before the last erasure are deleted.
    table: "suppressions",
    sql: `DELETE FROM main.mail_reports WHERE mail_id IS NULL
      AND at <= (SELECT max(at) FROM replaced.suppressions WHERE reason = 'erased')`,
  },
  {
    // Links to manage a subscription that were made invalid stay so.
    table: "subscribers",
    sql: `UPDATE main.subscribers AS r SET token_version = o.token_version
      FROM replaced.subscribers AS o WHERE o.id = r.id AND o.token_version > r.token_version`,
  },
  {
    what: "ended subscription",
    table: "subscribers",
    sql: `UPDATE main.subscribers AS r
      SET status = 'unsubscribed', unsubscribed_at = o.unsubscribed_at, version = max(r.version, o.version) + 1
      FROM replaced.subscribers AS o
      WHERE o.id = r.id AND o.status = 'unsubscribed' AND r.status = 'active' AND (o.version > r.version OR o.updated_at > r.updated_at)`,
  },
  {
    what: "suppression",
    table: "suppressions",
    sql: `INSERT OR IGNORE INTO main.suppressions (address_hmac, page_id, reason, mail_id, note, at)
      SELECT address_hmac, page_id, reason, mail_id, note, at FROM replaced.suppressions`,
  },
  {
    // Without the key by which their addresses are marked, suppressions would stop nothing.
    table: "settings",
    sql: `INSERT OR IGNORE INTO main.settings (name, value, updated_at)
      SELECT name, value, updated_at FROM replaced.settings WHERE name = 'mail_key'`,
  },
  {
    what: "revoked report token",
    table: "settings",
    sql: `DELETE FROM main.settings AS r WHERE r.name = 'mail_report_token'
      AND NOT EXISTS (SELECT 1 FROM replaced.settings AS o WHERE o.name = r.name AND o.value = r.value)`,
  },
  {
    // Suppressions are found by the key, which a backup from before the first mail does not have.
    table: "settings",
    sql: `INSERT OR IGNORE INTO main.settings (name, value, updated_at)
      SELECT name, value, updated_at FROM replaced.settings WHERE name IN ('mail_report_token', 'mail_key')`,
  },
];

/** True if mailings of the replaced database are held since an earlier restore could not read who left. */
export function isHeldSinceRestore(sqlite: Database): boolean {
  return readHolds(sqlite, "replaced").some(isOfRestore);
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

/** Holds all mailings of the restored database from `now` (unix ms) until an admin goes on. */
export function holdMailings(sqlite: Database, now: number): void {
  const holds = readHolds(sqlite, "main");
  if (holds.some(isOfRestore)) return;
  // One with another reason ends, since this is the reason that an admin has to know.
  const ended = holds.map((each) => ({ ...each, endedAt: each.endedAt ?? now }));
  const hold: MailHold = { reason: "restore", at: now, since: now, endedAt: null };
  sqlite
    .prepare("INSERT OR REPLACE INTO main.settings (name, value, updated_at) VALUES (?, ?, ?)")
    .run(MAIL_HOLDS_SETTING, JSON.stringify([...ended, hold]), now);
}

/*
 * Credentials across a restore. Changes after the backup stay in force: revocations, ended key values,
 * disabled users, lowered roles, changed passwords, rotated secrets, former destinations of webhooks, ended
 * subscriptions and suppressions are read from the replaced database. Either database may have an older
 * schema, and the replaced one may be damaged: a table is carried over only if both databases have it and it is
 * undamaged.
 */

/** Number of rows that one rule changed, with their noun. */
export interface CarriedOver {
  what: string;
  count: number;
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

const rank = (role: string) =>
  `CASE ${role} WHEN 'owner' THEN 4 WHEN 'admin' THEN 3 WHEN 'editor' THEN 2 ELSE 1 END`;

const RULES: readonly Rule[] = [
  {
    what: "revoked key",
    table: "api_keys",
    sql: `UPDATE main.api_keys AS r SET revoked_at = o.revoked_at, ${NEWER_VERSION}
      FROM replaced.api_keys AS o
      WHERE o.id = r.id AND o.revoked_at IS NOT NULL AND r.revoked_at IS NULL`,
  },
  {
    what: "ended key value",
    table: "api_key_values",
    sql: `UPDATE main.api_key_values AS r SET ends_at = o.ends_at FROM replaced.api_key_values AS o
      WHERE o.hash = r.hash AND o.ends_at < coalesce(r.ends_at, ${Number.MAX_SAFE_INTEGER})`,
  },
  {
    // Without it, the key would have no value that works.
    what: "new value of a rotated key",
    table: "api_key_values",
    sql: `INSERT INTO main.api_key_values (hash, key_id, start, created_at, ends_at)
      SELECT hash, key_id, start, created_at, ends_at FROM replaced.api_key_values AS o
      WHERE key_id IN (SELECT id FROM main.api_keys)
        AND NOT EXISTS (SELECT 1 FROM main.api_key_values AS r WHERE r.hash = o.hash)`,
  },
  {
    what: "lowered role",
    table: "users",
    sql: `UPDATE main.users AS r SET role = o.role FROM replaced.users AS o
      WHERE o.id = r.id AND ${rank("o.role")} < ${rank("r.role")} AND ${IS_LATER}`,
  },
  {
    what: "changed password",
    table: "users",
    sql: `UPDATE main.users AS r
      SET password_hash = o.password_hash, password_changed_at = o.password_changed_at
      FROM replaced.users AS o
      WHERE o.id = r.id AND o.password_hash IS NOT NULL AND o.password_hash IS NOT r.password_hash
        AND ${IS_LATER}`,
  },
  {
    what: "disabled user",
    table: "users",
    sql: `UPDATE main.users AS r
      SET disabled_at = coalesce(r.disabled_at, o.disabled_at),
        deleted_at = coalesce(r.deleted_at, o.deleted_at)
      FROM replaced.users AS o
      WHERE o.id = r.id AND ${IS_LATER} AND ((o.disabled_at IS NOT NULL AND r.disabled_at IS NULL)
        OR (o.deleted_at IS NOT NULL AND r.deleted_at IS NULL))`,
  },
  {
    // The last rule about users. A later restore of the replaced database then finds equal versions and
    // lowers no role.
    table: "users",
    sql: `UPDATE main.users AS r
      SET version = max(r.version, o.version), updated_at = max(r.updated_at, o.updated_at)
      FROM replaced.users AS o WHERE o.id = r.id AND ${IS_LATER}`,
  },
  {
    what: "rotated signing secret",
    table: "webhooks",
    // A deleted webhook has an empty secret.
    sql: `UPDATE main.webhooks AS r SET secret = o.secret, previous_secret = o.previous_secret,
        previous_secret_ends_at = o.previous_secret_ends_at
      FROM replaced.webhooks AS o
      WHERE o.id = r.id AND o.deleted_at IS NULL AND r.deleted_at IS NULL
        AND o.secret <> r.secret AND r.previous_secret IS NOT o.secret AND ${IS_LATER}`,
  },
  {
    // One unit: the URL and the settings contain the credentials of the receiver, as the format needs.
    what: "changed destination of a webhook",
    table: "webhooks",
    sql: `UPDATE main.webhooks AS r SET url = o.url, format = o.format, settings = o.settings
      FROM replaced.webhooks AS o
      WHERE o.id = r.id AND o.deleted_at IS NULL AND r.deleted_at IS NULL
        AND (o.url, o.format, o.settings) <> (r.url, r.format, r.settings) AND ${IS_LATER}`,
  },
  {
    // An address must confirm alerts again that it declined, or that another address confirmed.
    table: "webhooks",
    optionalColumn: "confirmed_at",
    sql: `UPDATE main.webhooks AS r SET confirmed_at = o.confirmed_at FROM replaced.webhooks AS o
      WHERE o.id = r.id AND o.confirmed_at IS NOT r.confirmed_at AND ${IS_LATER}`,
  },
  {
    // A deleted webhook is restored as disabled: its configuration is kept, and nothing is sent.
    what: "disabled webhook",
    table: "webhooks",
    sql: `UPDATE main.webhooks AS r SET enabled = 0,
        disabled_reason = CASE WHEN o.deleted_at IS NULL THEN o.disabled_reason
          ELSE 'It was deleted after the restored backup was made.' END,
        disabled_at = coalesce(o.deleted_at, o.disabled_at)
      FROM replaced.webhooks AS o
      WHERE o.id = r.id AND r.deleted_at IS NULL AND r.enabled = 1
        AND (o.deleted_at IS NOT NULL OR o.enabled = 0) AND ${IS_LATER}`,
  },
  {
    // The last rule about webhooks, for the same reason as with users.
    table: "webhooks",
    sql: `UPDATE main.webhooks AS r
      SET version = max(r.version, o.version), updated_at = max(r.updated_at, o.updated_at)
      FROM replaced.webhooks AS o WHERE o.id = r.id AND ${IS_LATER}`,
  },
  ...TOKEN_RULES,
  ...MAIL_RULES,
];

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
    for (const table of Object.keys(CREDENTIAL_TABLES) as CredentialTable[])
      copyTable(replaced, sqlite, table);
    addTokensOfOtherSchema(sqlite);
  } catch {
    // Not a database, or its header is damaged.
  } finally {
    if (replaced) closeSqlite(replaced);
  }
}

function copyTable(from: Database, to: Database, table: CredentialTable): void {
  const stored = columnsOf(from, "main", table);
  const optional = OPTIONAL_COLUMNS[table]?.filter((column) => stored.has(column)) ?? [];
  const names = [...CREDENTIAL_TABLES[table], ...optional];
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

/** Applies every rule whose table could be read, in the transaction of the caller. */
export function carryOver(sqlite: Database): CarriedOver[] {
  const carried: CarriedOver[] = [];
  for (const { what, table, alsoReads = table, optionalColumn, sql } of RULES) {
    const isReadable = (["main", "replaced"] as const).every(
      (schema) =>
        [table, alsoReads].every((name) => hasCredentials(sqlite, schema, name)) &&
        (optionalColumn === undefined || columnsOf(sqlite, schema, table).has(optionalColumn)),
    );
    if (!isReadable) continue;
    const { changes: count } = sqlite.prepare(sql).run();
    if (count > 0 && what !== undefined) carried.push({ what, count });
  }
  return carried;
}
