import type { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import { openDataDirectory } from "../../src/db/data-directory";
import { migrate, type MigrationReport, MIGRATIONS } from "../../src/db/migrations";
import { isSound, openSqlite, pragma } from "../../src/db/open";

type Row = Record<string, unknown>;

/** A database of an older schema in a data directory of its own. */
interface OldDatabase extends Disposable {
  path: string;
  sqlite: Database;
  /** Migrates to the schema after this many migrations, by default to the newest. */
  upgrade(to?: number): MigrationReport;
  rows(sql: string): Row[];
}

/** Opens a database after the given number of migrations and inserts rows by `sql`. */
export function openOldDatabase(folder: string, migrations: number, sql: string): OldDatabase {
  const directory = openDataDirectory(join(folder, "data"));
  const sqlite = openSqlite(directory.database, 0);
  const upgrade = (to = MIGRATIONS.length) => migrate(sqlite, directory, MIGRATIONS.slice(0, to));
  upgrade(migrations);
  sqlite.exec(sql);
  return {
    path: directory.database,
    sqlite,
    upgrade,
    rows: (query) => sqlite.query<Row, []>(query).all(),
    [Symbol.dispose]: () => sqlite.close(),
  };
}

/** Returns empty tables by name, as `readAllTables` returns them. */
export function emptyTables(names: readonly string[]): Record<string, Row[]> {
  return Object.fromEntries(names.map((name) => [name, []]));
}

/** Expects a sound database that enforces its foreign keys and violates none. */
export function expectSound(sqlite: Database): void {
  expect(isSound(sqlite)).toBe(true);
  expect(pragma(sqlite, "foreign_keys")).toBe(1);
  expect(pragma(sqlite, "foreign_key_check")).toBeFalsy();
}
