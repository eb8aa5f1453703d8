/*
 * Credentials across a restore. Changes after the backup stay in force: revocations, ended key values,
 * disabled users, lowered roles, changed passwords, rotated secrets, former destinations of webhooks, ended
 * subscriptions and suppressions are read from the replaced database. Either database may have an older
 * schema, and the replaced one may be damaged: a table is carried over only if both databases have it and it is
 * undamaged.
 */
import { Database } from "bun:sqlite";
import { MAIL_RULES } from "./carry-over-mail";
import { addTokensOfOtherSchema, TOKEN_RULES } from "./carry-over-tokens";
import {
  columnsOf,
  CREDENTIAL_TABLES,
  type CredentialTable,
  hasCredentials,
  IS_LATER,
  NEWER_VERSION,
  OPTIONAL_COLUMNS,
  type Rule,
} from "./credential-tables";
import { APPLICATION_ID, closeSqlite, pragma } from "./open";

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
