import type { Database } from "bun:sqlite";
import { sha256Hex } from "../base/hash";
import { PROGRAM } from "../version";
import { copyBeforeUpgrade } from "./backup";
import type { DataDirectory } from "./data-directory";
import { OperatorError } from "./errors";
import { shellWord } from "./file-access";
import {
  hasReadableFrom,
  type Migration,
  MIGRATIONS,
  readApplied,
  requireKnownHistory,
} from "./migrations";

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

  const copy = from > 0 && directory ? copyBeforeUpgrade(sqlite, directory, to) : undefined;
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
