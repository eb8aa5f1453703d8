import type { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../kernel/hash";
import { copyDatabase } from "./backup";
import { type DataDirectory, OperatorError } from "./data-directory";
import { MIGRATIONS, type Migration } from "./migrations";
import { readApplied, requireKnownHistory } from "./schema-history";

/** What a migration run did. `copy` is the file that holds the database as it was before. */
export interface MigrationReport {
  from: number;
  to: number;
  copy: string | undefined;
}

/**
 * Brings a database to this build's schema: each migration in a transaction of its own, foreign keys
 * off while it runs and checked before it commits. An existing database is copied first.
 *
 * Throws an OperatorError for a newer schema and for a migration whose text is not the one applied.
 * Only the holder of the data directory's lock calls this.
 */
export function migrate(
  sqlite: Database,
  directory: DataDirectory | undefined,
  migrations: readonly Migration[] = MIGRATIONS,
): MigrationReport {
  const applied = readApplied(sqlite);
  requireKnownHistory(applied, migrations, "The database");
  const from = applied.length;
  const pending = migrations.slice(from);
  if (pending.length === 0) return { from, to: from, copy: undefined };

  const copy = from > 0 && directory ? copyBefore(sqlite, directory, from) : undefined;
  sqlite.run("PRAGMA foreign_keys = OFF");
  try {
    for (const migration of pending) applyOne(sqlite, migration);
  } finally {
    sqlite.run("PRAGMA foreign_keys = ON");
  }
  return { from, to: migrations.length, copy };
}

function applyOne(sqlite: Database, migration: Migration): void {
  try {
    sqlite.run("BEGIN IMMEDIATE");
    sqlite.run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
    );
    sqlite.exec(migration.sql);
    const broken = sqlite.prepare("PRAGMA foreign_key_check").all();
    if (broken.length > 0) throw new Error(`it leaves ${broken.length} broken foreign keys`);
    sqlite
      .prepare(
        "INSERT INTO schema_migrations VALUES (?, ?, ?, CAST(unixepoch('subsec') * 1000 AS INTEGER))",
      )
      .run(migration.number, migration.name, sha256Hex(migration.sql));
    sqlite.run("COMMIT");
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run("ROLLBACK");
    throw new OperatorError(
      `Migration ${migration.number} (${migration.name}) failed and was rolled back: ${(error as Error).message}`,
      error,
    );
  }
}

function copyBefore(sqlite: Database, directory: DataDirectory, from: number): string {
  try {
    mkdirSync(directory.backups, { recursive: true, mode: 0o750 });
  } catch (error) {
    throw new OperatorError(
      `The database must be copied before it is migrated, and ${directory.backups} cannot be made: ${(error as Error).message}`,
      error,
    );
  }
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  const file = join(directory.backups, `before-schema-${from + 1}-${stamp}.db`);
  copyDatabase(sqlite, file);
  return file;
}
