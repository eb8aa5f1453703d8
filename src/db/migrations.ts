/* All migrations, and how a database gets the schema of this build. */
import type { Database } from "bun:sqlite";
import foundation from "../../migrations/0001_foundation.sql" with { type: "text" };
import people from "../../migrations/0002_people.sql" with { type: "text" };
import incidents from "../../migrations/0003_incidents.sql" with { type: "text" };
import pageFace from "../../migrations/0004_page_face.sql" with { type: "text" };
import monitors from "../../migrations/0005_monitors.sql" with { type: "text" };
import webhooks from "../../migrations/0006_webhooks.sql" with { type: "text" };
import deletedPages from "../../migrations/0007_deleted_pages.sql" with { type: "text" };
import deliveryBatches from "../../migrations/0008_delivery_batches.sql" with { type: "text" };
import tags from "../../migrations/0009_tags.sql" with { type: "text" };
import incidentTemplates from "../../migrations/0010_incident_templates.sql" with { type: "text" };
import mail from "../../migrations/0011_mail.sql" with { type: "text" };
import watching from "../../migrations/0012_watching.sql" with { type: "text" };
import maintenanceSchedules from "../../migrations/0013_maintenance_schedules.sql" with { type: "text" };
import heartbeatRuns from "../../migrations/0014_heartbeat_runs.sql" with { type: "text" };
import imports from "../../migrations/0015_imports.sql" with { type: "text" };
import compat from "../../migrations/0016_compat.sql" with { type: "text" };
import compatNumberBounds from "../../migrations/0017_compat_number_bounds.sql" with { type: "text" };
import importedObjects from "../../migrations/0018_imported_objects.sql" with { type: "text" };
import importHistories from "../../migrations/0019_import_histories.sql" with { type: "text" };
import changes from "../../migrations/0020_changes.sql" with { type: "text" };
import terms from "../../migrations/0021_terms.sql" with { type: "text" };
import shortTokens from "../../migrations/0022_short_tokens.sql" with { type: "text" };
import mailingAuthors from "../../migrations/0023_mailing_authors.sql" with { type: "text" };
import webhookPauses from "../../migrations/0024_webhook_pauses.sql" with { type: "text" };
import gatheredDeliveries from "../../migrations/0025_gathered_deliveries.sql" with { type: "text" };
import automaticIncidents from "../../migrations/0026_automatic_incidents.sql" with { type: "text" };
import userTimeZones from "../../migrations/0027_user_time_zones.sql" with { type: "text" };
import privatePages from "../../migrations/0028_private_pages.sql" with { type: "text" };
import identities from "../../migrations/0029_identities.sql" with { type: "text" };
import secondFactors from "../../migrations/0030_second_factors.sql" with { type: "text" };
import languages from "../../migrations/0031_languages.sql" with { type: "text" };
import alerts from "../../migrations/0032_alerts.sql" with { type: "text" };
import acknowledgements from "../../migrations/0033_acknowledgements.sql" with { type: "text" };
import dockerMonitors from "../../migrations/0034_docker_monitors.sql" with { type: "text" };
import reports from "../../migrations/0035_reports.sql" with { type: "text" };
import pageLook from "../../migrations/0036_page_look.sql" with { type: "text" };
import locations from "../../migrations/0037_locations.sql" with { type: "text" };
import { sha256Hex } from "../base/hash";
import { PROGRAM } from "../version";
import { type DataDirectory, shellWord } from "./data-directory";
import type * as CopiesModule from "./copies";
import { OperatorError } from "./errors";
import { type AppliedMigration, readApplied } from "./open";

export interface Migration {
  /** Schema version after the migration: 1, 2, 3 … */
  number: number;
  name: string;
  sql: string;
  /**
   * Oldest schema version whose statements can still read the database, so that replicas of that version go on until
   * they are upgraded. If absent, the version of this migration.
   */
  readableFrom?: number;
}

/** Every migration, oldest first. A released migration is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "foundation", sql: foundation },
  { number: 2, name: "people", sql: people },
  { number: 3, name: "incidents", sql: incidents },
  { number: 4, name: "page_face", sql: pageFace },
  { number: 5, name: "monitors", sql: monitors },
  { number: 6, name: "webhooks", sql: webhooks },
  { number: 7, name: "deleted_pages", sql: deletedPages },
  { number: 8, name: "delivery_batches", sql: deliveryBatches },
  { number: 9, name: "tags", sql: tags },
  { number: 10, name: "incident_templates", sql: incidentTemplates },
  { number: 11, name: "mail", sql: mail },
  { number: 12, name: "watching", sql: watching },
  { number: 13, name: "maintenance_schedules", sql: maintenanceSchedules },
  { number: 14, name: "heartbeat_runs", sql: heartbeatRuns },
  { number: 15, name: "imports", sql: imports },
  { number: 16, name: "compat", sql: compat },
  { number: 17, name: "compat_number_bounds", sql: compatNumberBounds },
  { number: 18, name: "imported_objects", sql: importedObjects },
  { number: 19, name: "import_histories", sql: importHistories },
  { number: 20, name: "changes", sql: changes },
  { number: 21, name: "terms", sql: terms, readableFrom: 20 },
  { number: 22, name: "short_tokens", sql: shortTokens, readableFrom: 20 },
  { number: 23, name: "mailing_authors", sql: mailingAuthors, readableFrom: 20 },
  { number: 24, name: "webhook_pauses", sql: webhookPauses, readableFrom: 20 },
  { number: 25, name: "gathered_deliveries", sql: gatheredDeliveries, readableFrom: 20 },
  { number: 26, name: "automatic_incidents", sql: automaticIncidents, readableFrom: 20 },
  { number: 27, name: "user_time_zones", sql: userTimeZones, readableFrom: 20 },
  { number: 28, name: "private_pages", sql: privatePages, readableFrom: 20 },
  { number: 29, name: "identities", sql: identities, readableFrom: 20 },
  { number: 30, name: "second_factors", sql: secondFactors, readableFrom: 20 },
  { number: 31, name: "languages", sql: languages, readableFrom: 20 },
  { number: 32, name: "alerts", sql: alerts, readableFrom: 20 },
  { number: 33, name: "acknowledgements", sql: acknowledgements, readableFrom: 20 },
  { number: 34, name: "docker_monitors", sql: dockerMonitors, readableFrom: 20 },
  { number: 35, name: "reports", sql: reports, readableFrom: 20 },
  { number: 36, name: "page_look", sql: pageLook, readableFrom: 20 },
  { number: 37, name: "locations", sql: locations, readableFrom: 20 },
];

/** Schema version of this build. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Outcome of a migration. `copy` is the copy of the database from before it. */
export interface MigrationReport {
  from: number;
  to: number;
  copy: string | undefined;
}

/**
 * Migrates a database to the schema of this build, in one transaction, so that after a failure the previous
 * build can use it. Foreign keys are checked before the commit, not during it. An existing database is
 * copied first.
 *
 * Throws an OperatorError for a newer schema, for a migration with another text than the applied one, and
 * for a failed migration. The caller holds the lock of the data directory.
 */
export function migrate(
  sqlite: Database,
  directory: DataDirectory | undefined,
  migrations: readonly Migration[] = MIGRATIONS,
): MigrationReport {
  const applied = readApplied(sqlite);
  requireKnownHistory(applied, migrations, "The database");
  const from = applied.length;
  const to = migrations.length;
  if (from === to) return { from, to, copy: undefined };

  let copy: string | undefined;
  if (from > 0 && directory) {
    const { copyBeforeUpgrade } = require("./copies") as typeof CopiesModule;
    copy = copyBeforeUpgrade(sqlite, directory, to);
  }
  try {
    applyAll(sqlite, migrations.slice(from));
  } catch (error) {
    const lines = [
      `The upgrade from schema version ${from} to ${to} failed and was rolled back. ${(error as Error).message}`,
    ];
    if (copy !== undefined && directory) lines.push(...explainWayBack(directory, copy));
    throw new OperatorError(lines.join("\n"), error);
  }
  return { from, to, copy };
}

/** Throws an OperatorError unless `migrations` begin with the applied ones. `what` begins the message. */
export function requireKnownHistory(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  what: string,
): void {
  if (applied.length > migrations.length) {
    throw new OperatorError(
      `${what} has schema version ${applied.length}, this Allclear knows ${migrations.length}. Use the newer Allclear, or restore a backup from before its upgrade.`,
    );
  }
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index];
    if (
      migration &&
      (row.number !== migration.number || row.checksum !== sha256Hex(migration.sql))
    ) {
      throw new OperatorError(
        `${what} was made with another migration ${row.number} (${row.name}) than this Allclear's. Use the build that made it.`,
      );
    }
  }
}

function applyAll(sqlite: Database, pending: readonly Migration[]): void {
  // Has no effect inside a transaction.
  sqlite.run("PRAGMA foreign_keys = OFF");
  try {
    sqlite.run("BEGIN IMMEDIATE");
    sqlite.run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
    );
    if (!hasReadableFrom(sqlite)) {
      sqlite.run(
        "ALTER TABLE schema_migrations ADD COLUMN readable_from INTEGER NOT NULL DEFAULT 0",
      );
    }
    for (const migration of pending) apply(sqlite, migration);
    sqlite.run("COMMIT");
  } finally {
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    sqlite.run("PRAGMA foreign_keys = ON");
  }
}

/** Returns true if the table of migrations has the column that replicas read. Earlier builds made it without. */
function hasReadableFrom(sqlite: Database): boolean {
  const columns = sqlite.prepare<{ name: string }, []>("PRAGMA table_info(schema_migrations)");
  return columns.all().some(({ name }) => name === "readable_from");
}

function apply(sqlite: Database, { number, name, sql, readableFrom }: Migration): void {
  try {
    sqlite.exec(sql);
    const broken = sqlite.prepare("PRAGMA foreign_key_check").all();
    if (broken.length > 0) throw new Error(`it leaves ${broken.length} broken foreign keys`);
    sqlite
      .prepare(
        "INSERT INTO schema_migrations (number, name, checksum, applied_at, readable_from) VALUES (?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER), ?)",
      )
      .run(number, name, sha256Hex(sql), readableFrom ?? number);
  } catch (error) {
    throw new Error(`Migration ${number} (${name}): ${(error as Error).message}`, { cause: error });
  }
}

function explainWayBack(directory: DataDirectory, copy: string): string[] {
  const restore = `${PROGRAM} restore ${shellWord(copy)} --data-dir ${shellWord(directory.path)}`;
  return [
    "The database is as it was: the Allclear that used it before can go on with it.",
    `A copy from before the upgrade is in ${copy}. To put it back:  ${restore}`,
  ];
}
