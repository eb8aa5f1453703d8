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
import { sha256Hex } from "../base/hash";
import { OperatorError } from "./errors";
import { APPLICATION_ID, pragma } from "./open";

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
];

/** Schema version of this build. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** A migration that was applied to a database. */
interface AppliedMigration {
  number: number;
  name: string;
  /** SHA-256 of its SQL, in hexadecimal. */
  checksum: string;
}

/** Returns the migrations that were applied to a database, oldest first. */
export function readApplied(sqlite: Database): AppliedMigration[] {
  const exists = sqlite
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'")
    .get();
  if (!exists) return [];
  return sqlite
    .prepare<AppliedMigration, []>(
      "SELECT number, name, checksum FROM schema_migrations ORDER BY number",
    )
    .all();
}

/** Returns the schema version of a database; 0 for an empty one. */
export function schemaVersion(sqlite: Database): number {
  return readApplied(sqlite).length;
}

/** Returns true if the table of migrations has the column that replicas read. Earlier builds made it without. */
export function hasReadableFrom(sqlite: Database): boolean {
  const columns = sqlite.prepare<{ name: string }, []>("PRAGMA table_info(schema_migrations)");
  return columns.all().some(({ name }) => name === "readable_from");
}

/** Returns true if a file is one of Allclear's databases. */
export function isAllclearDatabase(sqlite: Database): boolean {
  return pragma(sqlite, "application_id") === APPLICATION_ID && schemaVersion(sqlite) > 0;
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
