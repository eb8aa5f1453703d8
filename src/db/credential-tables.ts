import type { Database } from "bun:sqlite";

/** Tables of credentials and of consent to mail, and the columns that a restore reads. */
export const CREDENTIAL_TABLES = {
  api_keys: ["id", "name", "expires_at", "revoked_at", "version"],
  api_key_values: ["hash", "key_id", "start", "created_at", "ends_at"],
  users: [
    "id",
    "email",
    "role",
    "password_hash",
    "password_changed_at",
    "disabled_at",
    "deleted_at",
    "version",
    "updated_at",
  ],
  webhooks: [
    "id",
    "ref",
    "url",
    "format",
    "settings",
    "enabled",
    "disabled_reason",
    "disabled_at",
    "secret",
    "previous_secret",
    "previous_secret_ends_at",
    "version",
    "updated_at",
    "deleted_at",
  ],
  monitors: ["id", "ref", "version", "updated_at", "deleted_at"],
  monitor_tokens: ["hash", "monitor_id", "kind", "created_at"],
  subscribers: [
    "id",
    "address_hmac",
    "status",
    "unsubscribed_at",
    "token_version",
    "version",
    "updated_at",
  ],
  settings: ["name", "value", "updated_at"],
  suppressions: ["address_hmac", "page_id", "reason", "mail_id", "note", "at"],
} as const;

export type CredentialTable = keyof typeof CREDENTIAL_TABLES;

/** Columns that a restore reads too, from databases of a schema that has them. */
export const OPTIONAL_COLUMNS: Partial<Record<CredentialTable, readonly string[]>> = {
  webhooks: ["confirmed_at"],
  // Before the table of tokens, each monitor had one.
  monitors: ["token_hash"],
};

/** SQL condition: the replaced database has a newer state of the row than the backup. */
export const IS_LATER = "(o.version > r.version OR o.updated_at > r.updated_at)";

/** SQL assignment: a version that neither database has had. */
export const NEWER_VERSION = "version = max(r.version, o.version) + 1";

/** A change since the backup that a restore repeats. */
export interface Rule {
  /** Noun in the singular; undefined for a change that is not reported. */
  what?: string;
  table: CredentialTable;
  /** A second table that the statement reads. */
  alsoReads?: CredentialTable;
  /** One of `OPTIONAL_COLUMNS` that the statement needs. */
  optionalColumn?: string;
  /** One statement. Rows of `main`, the restored database, are `r`; those of `replaced` are `o`. */
  sql: string;
}

/** Returns true if the table exists in the database of that name, with its expected columns. */
export function hasCredentials(
  sqlite: Database,
  schema: "main" | "replaced",
  table: CredentialTable,
): boolean {
  const names = columnsOf(sqlite, schema, table);
  return CREDENTIAL_TABLES[table].every((column) => names.has(column));
}

/** Names of a table's columns; empty if there is no such table. */
export function columnsOf(sqlite: Database, schema: string, table: string): Set<string> {
  const rows = sqlite
    .prepare<{ name: string }, [string, string]>("SELECT name FROM pragma_table_info(?, ?)")
    .all(table, schema);
  return new Set(rows.map(({ name }) => name));
}
