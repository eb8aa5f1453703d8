import type { Database } from "bun:sqlite";

export type CredentialKind = "key" | "user" | "webhook" | "monitor";

/** A credential of the restored database that is accepted or signs webhooks. */
interface LiveCredential {
  kind: CredentialKind;
  id: string;
  /** Name for people, without secrets. */
  label: string;
}

interface Listing {
  kind: CredentialKind;
  table: CredentialTable;
  /** A second table of the restored database that `isLive` reads. */
  alsoReads?: CredentialTable;
  /** A column that only some schemas have, and that `isLive` reads. */
  column?: string;
  /** Tables of the replaced database that are needed to know which rows it still has. */
  requiredTables: readonly CredentialTable[];
  /** SQL of the label. */
  label: string;
  /** SQL condition under which the row is accepted, or signs, at `$now` (unix ms). */
  isLive: string;
  /** SQL condition under which the replaced database still has the row. */
  isConfirmed: string;
}

const LISTINGS: readonly Listing[] = [
  {
    kind: "key",
    table: "api_keys",
    requiredTables: ["api_keys", "api_key_values"],
    label: "name",
    isLive: `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $now) AND EXISTS (
      SELECT 1 FROM main.api_key_values AS v
      WHERE v.key_id = main.api_keys.id AND (v.ends_at IS NULL OR v.ends_at > $now))`,
    isConfirmed: "TRUE",
  },
  {
    kind: "user",
    table: "users",
    requiredTables: ["users"],
    label: "email || ', ' || role",
    isLive: "password_hash IS NOT NULL AND disabled_at IS NULL AND deleted_at IS NULL",
    isConfirmed: "TRUE",
  },
  {
    kind: "webhook",
    table: "webhooks",
    requiredTables: ["webhooks"],
    label: "ref",
    isLive: "enabled = 1 AND deleted_at IS NULL",
    isConfirmed: "deleted_at IS NULL",
  },
  {
    kind: "monitor",
    table: "monitors",
    alsoReads: "monitor_tokens",
    requiredTables: ["monitors", "monitor_tokens"],
    label: "ref",
    isLive: "deleted_at IS NULL AND id IN (SELECT monitor_id FROM main.monitor_tokens)",
    isConfirmed: "deleted_at IS NULL",
  },
  {
    // In a backup from before the table of tokens.
    kind: "monitor",
    table: "monitors",
    column: "token_hash",
    requiredTables: ["monitors"],
    label: "ref",
    isLive: "token_hash IS NOT NULL AND deleted_at IS NULL",
    isConfirmed: "deleted_at IS NULL",
  },
];

/** Credentials that work in a restored database and are missing in the replaced one. */
export interface RevivedCredentials {
  /** By kind and id. */
  revived: LiveCredential[];
  /** False if the replaced database, or one of its tables, is missing or damaged. */
  couldReadReplaced: boolean;
}

/**
 * Lists the credentials that work at `now` (unix ms), except for rows that the attached `replaced` still
 * has, whose revocations were carried over.
 */
export function listRevived(sqlite: Database, now: number): RevivedCredentials {
  let couldReadReplaced = true;
  const revived = LISTINGS.flatMap(
    ({ kind, table, alsoReads = table, column, requiredTables, label, isLive, isConfirmed }) => {
      const needed = [table, alsoReads];
      if (!needed.every((name) => hasCredentials(sqlite, "main", name))) return [];
      if (column !== undefined && !columnsOf(sqlite, "main", table).has(column)) return [];
      const isKnown = requiredTables.every((name) => hasCredentials(sqlite, "replaced", name));
      couldReadReplaced &&= isKnown;
      const confirmed = isKnown
        ? `id IN (SELECT id FROM replaced.${table} WHERE ${isConfirmed})`
        : "FALSE";
      const rows = sqlite
        .prepare<{ id: string; label: string }, [{ now: number }]>(
          `SELECT id, ${label} AS label FROM main.${table}
         WHERE ${isLive} AND NOT (${confirmed}) ORDER BY id`,
        )
        .all({ now });
      return rows.map((row) => ({ kind, ...row }));
    },
  );
  return { revived, couldReadReplaced };
}

/** Returns true if there are users, but no owner who can sign in. */
export function lacksOwner(sqlite: Database): boolean {
  if (!hasCredentials(sqlite, "main", "users")) return false;
  const row = sqlite
    .prepare<{ users: number; owners: number }, []>(
      `SELECT count(*) AS users, count(*) FILTER (WHERE role = 'owner'
         AND password_hash IS NOT NULL AND disabled_at IS NULL AND deleted_at IS NULL) AS owners
       FROM main.users`,
    )
    .get();
  return row !== null && row.users > 0 && row.owners === 0;
}

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
