/*
 * Credentials and consent to mail across a restore. Changes after the backup stay in force: revocations, ended key
 * values, disabled users, lowered roles, changed passwords and second factors, disconnected identities, rotated secrets,
 * former destinations of webhooks, tokens of locations, rules of private pages, ended subscriptions and suppressions, and
 * which reports were mailed, are read from the replaced database. `restore.ts` applies the rules. Either database may have
 * an older schema, and the replaced one may be damaged: a table is carried over only if both databases have it and it is
 * undamaged.
 */

/** A table from which a restore carries changes over. */
interface CarriedTable {
  /** Columns that a restore reads, the key first. A table that lacks one of them is not carried over. */
  columns: readonly string[];
  /** Columns that it reads too, from databases of a schema that has them. */
  optional?: readonly string[];
  /** Changes that a restore repeats, in this order. */
  rules: readonly Rule[];
  /** Credentials that a restore may revive. */
  credentials?: readonly Credentials[];
}

/** A change since the backup that a restore repeats. */
interface Rule {
  /** Noun in the singular; undefined for a change that is not reported. */
  what?: string;
  /** A second table that the statement reads. */
  alsoReads?: string;
  /** One of the optional columns that the statement needs. */
  column?: string;
  /** One statement. Rows of `main`, the restored database, are `r`; those of `replaced` are `o`. */
  sql: string;
}

/** Rows of a table that are accepted as credentials, or sign webhooks. */
interface Credentials {
  kind: CredentialKind;
  /** An optional column that `isLive` reads. */
  column?: string;
  /** A second table that `isLive` reads, and that is needed to know which rows the replaced database still has. */
  alsoReads?: string;
  /** SQL of the name for people, without secrets. */
  label: string;
  /** SQL condition under which the row is accepted, or signs, at `$now` (unix ms). */
  isLive: string;
  /** SQL condition under which the replaced database still has the row. */
  isConfirmed: string;
}

export type CredentialKind =
  "key" | "user" | "identity" | "webhook" | "monitor" | "location" | "page" | "link";

/** SQL condition: the replaced database has a newer state of the row than the backup. */
const IS_LATER = "(o.version > r.version OR o.updated_at > r.updated_at)";

/** SQL assignment: a version that neither database has had. */
const NEWER_VERSION = "version = max(r.version, o.version) + 1";

/** Returns the SQL of a change to rows that both databases have. */
function update(table: string, set: string, condition: string, key = "id"): string {
  return `UPDATE main.${table} AS r SET ${set} FROM replaced.${table} AS o
    WHERE o.${key} = r.${key} AND ${condition}`;
}

/**
 * Returns the last rule of a table: rows become as new as the replaced ones. A later restore of the replaced database
 * then finds equal versions, and lowers no role.
 */
function equalVersions(table: string): Rule {
  const set = "version = max(r.version, o.version), updated_at = max(r.updated_at, o.updated_at)";
  return { sql: update(table, set, IS_LATER) };
}

const rank = (role: string) =>
  `CASE ${role} WHEN 'owner' THEN 4 WHEN 'admin' THEN 3 WHEN 'editor' THEN 2 ELSE 1 END`;

/** SQL condition: neither database has deleted the row. */
const IS_KEPT = "o.deleted_at IS NULL AND r.deleted_at IS NULL";

/** SQL that selects the ids of monitors that both databases have and that were changed after the backup. */
const CHANGED_MONITORS = `SELECT r.id FROM main.monitors AS r
  JOIN replaced.monitors AS o ON o.id = r.id
  WHERE ${IS_KEPT} AND ${IS_LATER}`;

/** SQL that selects the ids of locations that were changed after the backup, also of those deleted since. */
const CHANGED_LOCATIONS = `SELECT r.id FROM main.locations AS r
  JOIN replaced.locations AS o ON o.id = r.id WHERE ${IS_LATER}`;

/** SQL that selects the ids of pages that were changed after the backup, also of those deleted since. */
const CHANGED_PAGES = `SELECT r.id FROM main.pages AS r
  JOIN replaced.pages AS o ON o.id = r.id WHERE ${IS_LATER}`;

/** SQL that selects the ids of users that both databases have and that were changed after the backup. */
const CHANGED_USERS = `SELECT r.id FROM main.users AS r
  JOIN replaced.users AS o ON o.id = r.id WHERE ${IS_LATER}`;

const SECOND_FACTOR_COLUMNS = [
  "user_id",
  "secret",
  "last_period",
  "wrong_codes",
  "pauses",
  "paused_until",
  "created_at",
] as const;

/** SQL condition: a subscriber of the backup was erased since. One of another page can have the same address. */
const IS_ERASED = `NOT EXISTS (SELECT 1 FROM replaced.subscribers AS o WHERE o.id = r.id)
  AND EXISTS (SELECT 1 FROM replaced.suppressions AS o
    WHERE o.address_hmac = r.address_hmac AND o.reason = 'erased' AND o.at >= r.updated_at)`;

/** Mails that answered sign-ups of addresses which were erased later, found by the index of their subjects. */
const ANSWERS_TO_ERASED = `replaced.suppressions AS o CROSS JOIN main.mails AS m
    ON m.subject_id = 'signup_' || o.address_hmac AND m.mailing_id IS NULL
  WHERE o.reason = 'erased' AND o.at >= m.created_at`;

/** The tables in the order in which their rules are applied. */
export const CARRIED_TABLES: Readonly<Record<string, CarriedTable>> = {
  api_keys: {
    columns: ["id", "name", "expires_at", "revoked_at", "version"],
    rules: [
      {
        what: "revoked key",
        sql: update(
          "api_keys",
          `revoked_at = o.revoked_at, ${NEWER_VERSION}`,
          "o.revoked_at IS NOT NULL AND r.revoked_at IS NULL",
        ),
      },
    ],
    credentials: [
      {
        kind: "key",
        alsoReads: "api_key_values",
        label: "name",
        isLive: `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $now) AND EXISTS (
          SELECT 1 FROM main.api_key_values AS v
          WHERE v.key_id = main.api_keys.id AND (v.ends_at IS NULL OR v.ends_at > $now))`,
        isConfirmed: "TRUE",
      },
    ],
  },
  api_key_values: {
    columns: ["hash", "key_id", "start", "created_at", "ends_at"],
    rules: [
      {
        what: "ended key value",
        sql: update(
          "api_key_values",
          "ends_at = o.ends_at",
          `o.ends_at < coalesce(r.ends_at, ${Number.MAX_SAFE_INTEGER})`,
          "hash",
        ),
      },
      {
        // Without it, the key would have no value that works.
        what: "new value of a rotated key",
        sql: `INSERT INTO main.api_key_values (hash, key_id, start, created_at, ends_at)
          SELECT hash, key_id, start, created_at, ends_at FROM replaced.api_key_values AS o
          WHERE key_id IN (SELECT id FROM main.api_keys)
            AND NOT EXISTS (SELECT 1 FROM main.api_key_values AS r WHERE r.hash = o.hash)`,
      },
    ],
  },
  // Before `users`, whose last rule makes versions equal, so that CHANGED_USERS would be empty.
  identities: {
    columns: ["id", "user_id", "issuer", "subject"],
    rules: [
      {
        what: "disconnected identity",
        alsoReads: "users",
        sql: `DELETE FROM main.identities AS r WHERE user_id IN (${CHANGED_USERS})
          AND NOT EXISTS (SELECT 1 FROM replaced.identities AS o
            WHERE o.issuer = r.issuer AND o.subject = r.subject AND o.user_id = r.user_id)`,
      },
    ],
    credentials: [
      {
        kind: "identity",
        alsoReads: "users",
        label: `(SELECT email FROM main.users AS u WHERE u.id = user_id) || ' at ' ||
          iif(issuer = 'proxy', 'the identity proxy', issuer)`,
        isLive: `user_id IN (SELECT id FROM main.users
          WHERE disabled_at IS NULL AND deleted_at IS NULL)`,
        isConfirmed: "TRUE",
      },
    ],
  },
  second_factors: {
    columns: SECOND_FACTOR_COLUMNS,
    rules: [
      {
        // With its recovery codes, by their foreign key.
        what: "removed second factor",
        alsoReads: "users",
        sql: `DELETE FROM main.second_factors AS r WHERE r.user_id IN (${CHANGED_USERS})
          AND NOT EXISTS (SELECT 1 FROM replaced.second_factors AS o
            WHERE o.user_id = r.user_id AND o.secret = r.secret)`,
      },
      {
        what: "new second factor",
        alsoReads: "users",
        sql: `INSERT INTO main.second_factors (${SECOND_FACTOR_COLUMNS.join(", ")})
          SELECT ${SECOND_FACTOR_COLUMNS.join(", ")} FROM replaced.second_factors
          WHERE user_id IN (${CHANGED_USERS})
            AND user_id NOT IN (SELECT user_id FROM main.second_factors)`,
      },
      {
        // Codes that were used since the backup stay so, and a pause goes on.
        sql: update(
          "second_factors",
          `last_period = max(r.last_period, o.last_period), wrong_codes = o.wrong_codes,
            pauses = CASE WHEN o.paused_until > r.paused_until THEN o.pauses ELSE r.pauses END,
            paused_until = max(r.paused_until, o.paused_until)`,
          `o.secret = r.secret
            AND (o.last_period > r.last_period OR o.paused_until > r.paused_until)`,
          "user_id",
        ),
      },
    ],
  },
  recovery_codes: {
    columns: ["hash", "user_id"],
    rules: [
      {
        what: "used recovery code",
        alsoReads: "users",
        sql: `DELETE FROM main.recovery_codes WHERE user_id IN (${CHANGED_USERS})
          AND hash NOT IN (SELECT hash FROM replaced.recovery_codes)`,
      },
      {
        what: "new recovery code",
        alsoReads: "users",
        sql: `INSERT INTO main.recovery_codes (hash, user_id)
          SELECT hash, user_id FROM replaced.recovery_codes
          WHERE user_id IN (${CHANGED_USERS})
            AND user_id IN (SELECT user_id FROM main.second_factors)
            AND hash NOT IN (SELECT hash FROM main.recovery_codes)`,
      },
    ],
  },
  users: {
    columns: [
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
    rules: [
      {
        what: "lowered role",
        sql: update(
          "users",
          "role = o.role",
          `${rank("o.role")} < ${rank("r.role")} AND ${IS_LATER}`,
        ),
      },
      {
        what: "changed password",
        sql: update(
          "users",
          "password_hash = o.password_hash, password_changed_at = o.password_changed_at",
          `o.password_hash IS NOT NULL AND o.password_hash IS NOT r.password_hash AND ${IS_LATER}`,
        ),
      },
      {
        what: "disabled user",
        sql: update(
          "users",
          `disabled_at = coalesce(r.disabled_at, o.disabled_at),
            deleted_at = coalesce(r.deleted_at, o.deleted_at)`,
          `${IS_LATER} AND ((o.disabled_at IS NOT NULL AND r.disabled_at IS NULL)
            OR (o.deleted_at IS NOT NULL AND r.deleted_at IS NULL))`,
        ),
      },
      equalVersions("users"),
    ],
    credentials: [
      {
        kind: "user",
        label: "email || ', ' || role",
        isLive: "password_hash IS NOT NULL AND disabled_at IS NULL AND deleted_at IS NULL",
        isConfirmed: "TRUE",
      },
      {
        // They may have been used since.
        kind: "user",
        alsoReads: "recovery_codes",
        label: "email || ', recovery codes'",
        isLive: `id IN (SELECT user_id FROM main.recovery_codes)
          AND disabled_at IS NULL AND deleted_at IS NULL`,
        isConfirmed: "TRUE",
      },
    ],
  },
  webhooks: {
    columns: [
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
    optional: ["confirmed_at"],
    rules: [
      {
        what: "rotated signing secret",
        // A deleted webhook has an empty secret.
        sql: update(
          "webhooks",
          `secret = o.secret, previous_secret = o.previous_secret,
            previous_secret_ends_at = o.previous_secret_ends_at`,
          `${IS_KEPT} AND o.secret <> r.secret AND r.previous_secret IS NOT o.secret AND ${IS_LATER}`,
        ),
      },
      {
        // One unit: the URL and the settings contain the credentials of the receiver, as the format needs.
        what: "changed destination of a webhook",
        sql: update(
          "webhooks",
          "url = o.url, format = o.format, settings = o.settings",
          `${IS_KEPT} AND (o.url, o.format, o.settings) <> (r.url, r.format, r.settings)
            AND ${IS_LATER}`,
        ),
      },
      {
        // An address must confirm alerts again that it declined, or that another address confirmed.
        column: "confirmed_at",
        sql: update(
          "webhooks",
          "confirmed_at = o.confirmed_at",
          `o.confirmed_at IS NOT r.confirmed_at AND ${IS_LATER}`,
        ),
      },
      {
        // A deleted webhook is restored as disabled: its configuration is kept, and nothing is sent.
        what: "disabled webhook",
        sql: update(
          "webhooks",
          `enabled = 0,
            disabled_reason = CASE WHEN o.deleted_at IS NULL THEN o.disabled_reason
              ELSE 'It was deleted after the restored backup was made.' END,
            disabled_at = coalesce(o.deleted_at, o.disabled_at)`,
          `r.deleted_at IS NULL AND r.enabled = 1
            AND (o.deleted_at IS NOT NULL OR o.enabled = 0) AND ${IS_LATER}`,
        ),
      },
      equalVersions("webhooks"),
    ],
    credentials: [
      {
        kind: "webhook",
        label: "ref",
        isLive: "enabled = 1 AND deleted_at IS NULL",
        isConfirmed: "deleted_at IS NULL",
      },
    ],
  },
  // Before the monitors, whose rules make them the later ones.
  monitor_tokens: {
    columns: ["hash", "monitor_id", "kind", "created_at"],
    rules: [
      {
        what: "ended heartbeat token",
        alsoReads: "monitors",
        sql: `DELETE FROM main.monitor_tokens WHERE monitor_id IN (${CHANGED_MONITORS})
          AND hash NOT IN (SELECT hash FROM replaced.monitor_tokens)`,
      },
      {
        what: "new heartbeat token",
        alsoReads: "monitors",
        sql: `INSERT INTO main.monitor_tokens (hash, monitor_id, kind, created_at)
          SELECT hash, monitor_id, kind, created_at FROM replaced.monitor_tokens
          WHERE monitor_id IN (${CHANGED_MONITORS})
            AND hash NOT IN (SELECT hash FROM main.monitor_tokens)`,
      },
    ],
  },
  monitors: {
    columns: ["id", "ref", "version", "updated_at", "deleted_at"],
    // Before the table of tokens, each monitor had one.
    optional: ["token_hash"],
    rules: [
      {
        what: "rotated heartbeat token",
        column: "token_hash",
        sql: update(
          "monitors",
          `token_hash = o.token_hash, ${NEWER_VERSION}`,
          `o.token_hash IS NOT NULL AND r.token_hash IS NOT NULL
            AND o.token_hash <> r.token_hash AND ${IS_LATER}`,
        ),
      },
      {
        alsoReads: "monitor_tokens",
        sql: update(
          "monitors",
          NEWER_VERSION,
          `r.id IN (${CHANGED_MONITORS}) AND r.id IN (SELECT monitor_id FROM main.monitor_tokens)`,
        ),
      },
    ],
    credentials: [
      {
        kind: "monitor",
        alsoReads: "monitor_tokens",
        label: "ref",
        isLive: "deleted_at IS NULL AND id IN (SELECT monitor_id FROM main.monitor_tokens)",
        isConfirmed: "deleted_at IS NULL",
      },
      {
        // In a backup from before the table of tokens.
        kind: "monitor",
        column: "token_hash",
        label: "ref",
        isLive: "token_hash IS NOT NULL AND deleted_at IS NULL",
        isConfirmed: "deleted_at IS NULL",
      },
    ],
  },
  // Before the locations, whose rule makes versions equal, so that nothing counts as changed afterwards.
  location_tokens: {
    columns: ["hash", "location_id", "created_at", "ends_at"],
    rules: [
      {
        what: "ended location token",
        alsoReads: "locations",
        sql: `DELETE FROM main.location_tokens WHERE location_id IN (${CHANGED_LOCATIONS})
          AND hash NOT IN (SELECT hash FROM replaced.location_tokens)`,
      },
      {
        sql: update(
          "location_tokens",
          "ends_at = o.ends_at",
          `o.ends_at < coalesce(r.ends_at, ${Number.MAX_SAFE_INTEGER})`,
          "hash",
        ),
      },
      {
        what: "new location token",
        alsoReads: "locations",
        sql: `INSERT INTO main.location_tokens (hash, location_id, created_at, ends_at)
          SELECT hash, location_id, created_at, ends_at FROM replaced.location_tokens
          WHERE location_id IN (${CHANGED_LOCATIONS})
            AND hash NOT IN (SELECT hash FROM main.location_tokens)`,
      },
    ],
  },
  locations: {
    columns: ["id", "ref", "version", "updated_at", "deleted_at"],
    rules: [equalVersions("locations")],
    credentials: [
      {
        kind: "location",
        alsoReads: "location_tokens",
        label: "ref",
        isLive: `deleted_at IS NULL AND id IN (
          SELECT location_id FROM main.location_tokens WHERE ends_at IS NULL OR ends_at > $now)`,
        isConfirmed: "deleted_at IS NULL",
      },
    ],
  },
  // Precedes `pages`, whose last rule makes versions equal, so that nothing counts as changed afterwards. A page without
  // rules is seen by users and keys alone.
  page_passwords: {
    columns: ["page_id", "hash"],
    rules: [
      {
        alsoReads: "pages",
        sql: `DELETE FROM main.page_passwords WHERE page_id IN (${CHANGED_PAGES})`,
      },
      {
        alsoReads: "pages",
        sql: `INSERT INTO main.page_passwords (page_id, hash)
          SELECT page_id, hash FROM replaced.page_passwords WHERE page_id IN (${CHANGED_PAGES})`,
      },
    ],
  },
  page_links: {
    columns: ["id", "page_id", "name", "hash", "expires_at"],
    rules: [
      {
        what: "revoked link",
        alsoReads: "pages",
        sql: `DELETE FROM main.page_links WHERE page_id IN (${CHANGED_PAGES})
          AND id NOT IN (SELECT id FROM replaced.page_links)`,
      },
    ],
    credentials: [
      {
        kind: "link",
        alsoReads: "pages",
        label: "name",
        isLive: "(expires_at IS NULL OR expires_at > $now)",
        isConfirmed: "TRUE",
      },
    ],
  },
  pages: {
    columns: ["id", "slug", "visibility", "version", "updated_at", "deleted_at"],
    optional: ["networks", "password_id", "has_links", "report"],
    rules: [
      {
        what: "change of a page to private",
        sql: update(
          "pages",
          "visibility = o.visibility",
          `o.visibility = 'private' AND r.visibility = 'public' AND ${IS_LATER}`,
        ),
      },
      {
        what: "changed password of a page",
        alsoReads: "page_passwords",
        column: "password_id",
        sql: update(
          "pages",
          "password_id = o.password_id",
          `o.password_id IS NOT r.password_id AND ${IS_LATER}`,
        ),
      },
      {
        what: "changed list of networks",
        column: "networks",
        sql: update("pages", "networks = o.networks", `o.networks <> r.networks AND ${IS_LATER}`),
      },
      {
        what: "restriction of monthly reports",
        column: "report",
        sql: update(
          "pages",
          "report = o.report",
          `(o.report = 'off' OR (o.report = 'team' AND r.report = 'public'))
            AND o.report <> r.report AND ${IS_LATER}`,
        ),
      },
      {
        alsoReads: "page_links",
        column: "has_links",
        sql: `UPDATE main.pages AS r SET has_links = 0 WHERE has_links = 1
          AND NOT EXISTS (SELECT 1 FROM main.page_links AS l WHERE l.page_id = r.id)`,
      },
      equalVersions("pages"),
    ],
    credentials: [
      {
        kind: "page",
        alsoReads: "page_passwords",
        column: "password_id",
        label: "slug",
        isLive: "password_id IS NOT NULL AND deleted_at IS NULL",
        isConfirmed: "TRUE",
      },
    ],
  },
  mailed_reports: {
    columns: ["page_id", "month", "digest", "mailed_at"],
    rules: [
      {
        // Without it, reports of the last days would be mailed twice.
        sql: `INSERT OR IGNORE INTO main.mailed_reports (page_id, month, digest, mailed_at)
          SELECT page_id, month, digest, mailed_at FROM replaced.mailed_reports
          WHERE page_id IN (SELECT id FROM main.pages)`,
      },
    ],
  },
  subscribers: {
    columns: [
      "id",
      "address_hmac",
      "status",
      "unsubscribed_at",
      "token_version",
      "version",
      "updated_at",
    ],
    rules: [
      {
        alsoReads: "suppressions",
        sql: `DELETE FROM main.mail_requests WHERE (page_id, address_key) IN (
          SELECT r.page_id, r.address_key FROM main.subscribers AS r WHERE ${IS_ERASED})`,
      },
      {
        alsoReads: "suppressions",
        sql: `DELETE FROM main.mail_reports WHERE mail_id IN (
          SELECT m.id FROM main.mails AS m, main.subscribers AS r
          WHERE m.subscriber_id = r.id AND ${IS_ERASED})`,
      },
      {
        // With choices and mails, by their foreign keys.
        what: "erased subscriber",
        alsoReads: "suppressions",
        sql: `DELETE FROM main.subscribers AS r WHERE ${IS_ERASED}`,
      },
      {
        // Links to manage a subscription that were made invalid stay so.
        sql: update(
          "subscribers",
          "token_version = o.token_version",
          "o.token_version > r.token_version",
        ),
      },
      {
        what: "ended subscription",
        sql: update(
          "subscribers",
          `status = 'unsubscribed', unsubscribed_at = o.unsubscribed_at, ${NEWER_VERSION}`,
          `o.status = 'unsubscribed' AND r.status = 'active' AND ${IS_LATER}`,
        ),
      },
    ],
  },
  suppressions: {
    columns: ["address_hmac", "page_id", "reason", "mail_id", "note", "at"],
    rules: [
      {
        // Sign-ups and their mails contain the address as well. A sign-up has no mark of its own.
        sql: `DELETE FROM main.mail_requests WHERE id IN (
          SELECT json_extract(m.params, '$.request') FROM ${ANSWERS_TO_ERASED})`,
      },
      {
        sql: `DELETE FROM main.mails WHERE id IN (SELECT m.id FROM ${ANSWERS_TO_ERASED})`,
      },
      {
        // A mark finds no address in a text, so that all unmatched reports from before the last erasure are deleted.
        sql: `DELETE FROM main.mail_reports WHERE mail_id IS NULL
          AND at <= (SELECT max(at) FROM replaced.suppressions WHERE reason = 'erased')`,
      },
      {
        what: "suppression",
        sql: `INSERT OR IGNORE INTO main.suppressions (address_hmac, page_id, reason, mail_id, note, at)
          SELECT address_hmac, page_id, reason, mail_id, note, at FROM replaced.suppressions`,
      },
    ],
  },
  settings: {
    columns: ["name", "value", "updated_at"],
    rules: [
      {
        what: "revoked report token",
        sql: `DELETE FROM main.settings AS r WHERE r.name = 'mail_report_token' AND NOT EXISTS (
          SELECT 1 FROM replaced.settings AS o WHERE o.name = r.name AND o.value = r.value)`,
      },
      {
        // Suppressions are found by the key, which a backup from before the first mail does not have.
        sql: `INSERT OR IGNORE INTO main.settings (name, value, updated_at)
          SELECT name, value, updated_at FROM replaced.settings
          WHERE name IN ('mail_report_token', 'mail_key')`,
      },
    ],
  },
};
