import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db";
import { type DataDirectory, openDataDirectory } from "../../src/db/data-directory";
import { migrate } from "../../src/db/migrate";
import { type Migration, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import { isSound, openSqlite, pragma } from "../../src/db/open";
import { isAllclearDatabase, readApplied, schemaVersion } from "../../src/db/schema-history";
import { temporaryFolder } from "../support/temporary-folder";

const PARENTS: Migration = {
  number: 1,
  name: "parents",
  sql: `
    CREATE TABLE parents (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE children (
      id TEXT PRIMARY KEY,
      parent_id TEXT NOT NULL REFERENCES parents (id) ON DELETE CASCADE
    ) STRICT; -- and a last comment`,
};

/** Rebuilds a table that others refer to, as SQLite's documentation of ALTER TABLE says to. */
const REBUILD: Migration = {
  number: 2,
  name: "rebuild",
  sql: `
    CREATE TABLE new_parents (id TEXT PRIMARY KEY, name TEXT NOT NULL, colour TEXT) STRICT;
    INSERT INTO new_parents (id, name) SELECT id, name FROM parents;
    DROP TABLE parents;
    ALTER TABLE new_parents RENAME TO parents;`,
};

const FAILING: Migration = {
  number: 3,
  name: "failing",
  sql: `
    CREATE TABLE half (id INTEGER PRIMARY KEY) STRICT;
    DELETE FROM children;
    INSERT INTO parents (id, name) VALUES ('p1', 'taken already');
    CREATE TABLE other_half (id INTEGER PRIMARY KEY) STRICT;`,
};

interface Place extends Disposable {
  directory: DataDirectory;
  sqlite: Database;
}

function place(): Place {
  const folder = temporaryFolder();
  const directory = openDataDirectory(join(folder.path, "data"));
  const sqlite = openSqlite(directory.database, 0);
  return {
    directory,
    sqlite,
    [Symbol.dispose]() {
      sqlite.close(true);
      folder[Symbol.dispose]();
    },
  };
}

function fillParents(sqlite: Database): void {
  sqlite.run("INSERT INTO parents VALUES ('p1', 'first')");
  sqlite.run("INSERT INTO children VALUES ('c1', 'p1'), ('c2', 'p1')");
}

function count(sqlite: Database, table: string): number {
  return sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
}

function hasTable(sqlite: Database, name: string): boolean {
  const found = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name);
  return found !== null;
}

describe("migrating", () => {
  test("makes a new database whole, copies nothing, and does nothing the second time", () => {
    using at = place();
    expect(migrate(at.sqlite, at.directory)).toEqual({
      from: 0,
      to: SCHEMA_VERSION,
      copy: undefined,
    });
    expect(isAllclearDatabase(at.sqlite)).toBe(true);
    expect(isSound(at.sqlite)).toBe(true);
    expect(readApplied(at.sqlite).map(({ number, name }) => ({ number, name }))).toEqual(
      MIGRATIONS.map(({ number, name }) => ({ number, name })),
    );
    expect(existsSync(at.directory.backups)).toBe(false);

    expect(migrate(at.sqlite, at.directory)).toEqual({
      from: SCHEMA_VERSION,
      to: SCHEMA_VERSION,
      copy: undefined,
    });
    expect(pragma(at.sqlite, "foreign_keys")).toBe(1);
  });

  test("copies an older database first; the copy is sound and as it was", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const report = migrate(at.sqlite, at.directory, [PARENTS, REBUILD]);
    expect(report).toMatchObject({ from: 1, to: 2 });
    expect(schemaVersion(at.sqlite)).toBe(2);

    const copy = report.copy ?? "";
    expect(
      readdirSync(at.directory.backups).map((name) => join(at.directory.backups, name)),
    ).toEqual([copy]);
    using before = new Database(copy, { readonly: true });
    expect(isSound(before)).toBe(true);
    expect(schemaVersion(before)).toBe(1);
    expect(before.query("SELECT * FROM parents").all()).toEqual([{ id: "p1", name: "first" }]);
    expect(count(before, "children")).toBe(2);
  });

  test("keeps the children of a table that is rebuilt, and enforces foreign keys again", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    migrate(at.sqlite, at.directory, [PARENTS, REBUILD]);
    expect(at.sqlite.query("SELECT * FROM parents").all()).toEqual([
      { id: "p1", name: "first", colour: null },
    ]);
    expect(count(at.sqlite, "children")).toBe(2);
    expect(pragma(at.sqlite, "foreign_keys")).toBe(1);
    at.sqlite.run("DELETE FROM parents");
    expect(count(at.sqlite, "children")).toBe(0);
  });

  test("rolls a failing migration back whole, keeps those before it, and names it", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const upgrade = () => migrate(at.sqlite, at.directory, [PARENTS, REBUILD, FAILING]);
    expect(upgrade).toThrow(OperatorError);
    expect(upgrade).toThrow(
      "Migration 3 (failing) failed and was rolled back: UNIQUE constraint failed: parents.id",
    );
    expect(schemaVersion(at.sqlite)).toBe(2);
    expect(hasTable(at.sqlite, "half")).toBe(false);
    expect(hasTable(at.sqlite, "other_half")).toBe(false);
    expect(count(at.sqlite, "children")).toBe(2);
    expect(at.sqlite.inTransaction).toBe(false);
    expect(pragma(at.sqlite, "foreign_keys")).toBe(1);
  });

  test("refuses a migration that leaves broken foreign keys", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const orphaning = { number: 2, name: "orphaning", sql: "DELETE FROM parents" };
    expect(() => migrate(at.sqlite, at.directory, [PARENTS, orphaning])).toThrow(
      "Migration 2 (orphaning) failed and was rolled back: it leaves 2 broken foreign keys",
    );
    expect(count(at.sqlite, "parents")).toBe(1);
    expect(schemaVersion(at.sqlite)).toBe(1);
  });

  test("refuses a database that was made with another text of a migration", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    const edited = { ...PARENTS, sql: `${PARENTS.sql} ` };
    const upgrade = () => migrate(at.sqlite, at.directory, [edited, REBUILD]);
    expect(upgrade).toThrow(OperatorError);
    expect(upgrade).toThrow("another migration 1 (parents) than this Allclear's");
    expect(schemaVersion(at.sqlite)).toBe(1);
    expect(existsSync(at.directory.backups)).toBe(false);
  });

  test("refuses a newer schema and names both versions", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS, REBUILD]);
    const open = () => migrate(at.sqlite, at.directory, [PARENTS]);
    expect(open).toThrow(OperatorError);
    expect(open).toThrow("The database has schema version 2, this Allclear knows 1.");
    expect(schemaVersion(at.sqlite)).toBe(2);
  });

  test("does nothing at all where the copy cannot be made", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const nowhere = { ...at.directory, backups: join(at.directory.database, "backups") };
    const upgrade = () => migrate(at.sqlite, nowhere, [PARENTS, REBUILD]);
    expect(upgrade).toThrow(OperatorError);
    expect(upgrade).toThrow("must be copied before it is migrated");
    expect(schemaVersion(at.sqlite)).toBe(1);
    expect(count(at.sqlite, "children")).toBe(2);
  });

  test("says so, changing nothing, when another process is writing", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    using other = new Database(at.directory.database);
    other.run("BEGIN IMMEDIATE");
    const upgrade = () => migrate(at.sqlite, at.directory, [PARENTS, REBUILD]);
    expect(upgrade).toThrow(OperatorError);
    other.run("ROLLBACK");
    expect(schemaVersion(at.sqlite)).toBe(1);
    expect(upgrade()).toMatchObject({ from: 1, to: 2 });
  });
});
