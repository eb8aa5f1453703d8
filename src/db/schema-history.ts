import type { Database } from "bun:sqlite";
import { sha256Hex } from "../kernel/hash";
import { OperatorError } from "./errors";
import type { Migration } from "./migrations";
import { APPLICATION_ID, pragma } from "./open";

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
