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
  monitors: ["id", "ref", "token_hash", "version", "updated_at", "deleted_at"],
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

/** Columns that a restore reads too, unless a database has an older schema without them. */
export const LATER_COLUMNS: Partial<Record<CredentialTable, readonly string[]>> = {
  webhooks: ["confirmed_at"],
};

/** A change since the backup that a restore repeats. */
export interface Rule {
  /** Noun in the singular; undefined for a change that is not reported. */
  what?: string;
  table: CredentialTable;
  /** A second table that the statement reads. */
  alsoReads?: CredentialTable;
  /** One of `LATER_COLUMNS` that the statement needs. */
  laterColumn?: string;
  /** One statement. Rows of `main`, the restored database, are `r`; those of `replaced` are `o`. */
  sql: string;
}
