import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { type DataDirectory, openDataDirectory } from "../../src/db/data-directory";
import { migrate, type Migration, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import {
  isAllclearDatabase,
  isSound,
  openSqlite,
  pragma,
  readApplied,
  schemaVersion,
} from "../../src/db/open";
import { startChild } from "../support/child";
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

/** Every file in the folder of copies. */
function copiesOf({ directory: { backups } }: Place): string[] {
  return readdirSync(backups).map((name) => join(backups, name));
}

function logBytes({ database }: DataDirectory): number {
  return statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function hasTable(sqlite: Database, name: string): boolean {
  const found = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name);
  return found !== null;
}

describe("migrating", () => {
  test("migrating creates a new database without a copy, and does nothing the second time", () => {
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

  test("migrating an older database first makes a sound copy", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const report = migrate(at.sqlite, at.directory, [PARENTS, REBUILD]);
    expect(report).toMatchObject({ from: 1, to: 2 });
    expect(schemaVersion(at.sqlite)).toBe(2);

    const copy = report.copy ?? "";
    expect(copiesOf(at)).toEqual([copy]);
    using before = new Database(copy, { readonly: true });
    expect(isSound(before)).toBe(true);
    expect(schemaVersion(before)).toBe(1);
    expect(before.query("SELECT * FROM parents").all()).toEqual([{ id: "p1", name: "first" }]);
    expect(count(before, "children")).toBe(2);
  });

  test("migrating keeps the child rows of a rebuilt table and enforces foreign keys again", () => {
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

  test("a failed migration rolls all pending ones back and names itself and the copy", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const upgrade = () => migrate(at.sqlite, at.directory, [PARENTS, REBUILD, FAILING]);
    expect(upgrade).toThrow(OperatorError);
    expect(upgrade).toThrow(
      "The upgrade from schema version 1 to 3 failed and was rolled back. Migration 3 (failing): UNIQUE constraint failed: parents.id",
    );
    expect(schemaVersion(at.sqlite)).toBe(1);
    expect(hasTable(at.sqlite, "half")).toBe(false);
    expect(hasTable(at.sqlite, "other_half")).toBe(false);
    expect(count(at.sqlite, "children")).toBe(2);
    expect(at.sqlite.inTransaction).toBe(false);
    expect(pragma(at.sqlite, "foreign_keys")).toBe(1);
    const [copy = ""] = copiesOf(at);
    expect(upgrade).toThrow(`A copy from before the upgrade is in ${copy}.`);
    expect(upgrade).toThrow(`restore ${copy} --data-dir ${at.directory.path}`);
    // The build from before goes on.
    expect(migrate(at.sqlite, at.directory, [PARENTS])).toMatchObject({ from: 1, to: 1 });
  });

  test("repeated failures of an upgrade make one copy, and another once the database has changed", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const failing = [PARENTS, REBUILD, FAILING];
    const attempt = (migrations: Migration[]) => {
      // As each start does it: on a connection of its own.
      using sqlite = openSqlite(at.directory.database, 0);
      return migrate(sqlite, at.directory, migrations);
    };
    at.sqlite.close(true);
    for (let start = 0; start < 5; start++) expect(() => attempt(failing)).toThrow("failed");
    const [first = ""] = copiesOf(at);
    expect(copiesOf(at)).toEqual([first]);

    using changing = openSqlite(at.directory.database, 0);
    changing.run("INSERT INTO parents VALUES ('p2', 'second')");
    changing.close(true);
    for (let start = 0; start < 5; start++) expect(() => attempt(failing)).toThrow("failed");
    const [second = ""] = copiesOf(at).filter((file) => file !== first);
    expect(copiesOf(at).toSorted()).toEqual([first, second].toSorted());
    using before = new Database(second, { readonly: true });
    expect(count(before, "parents")).toBe(2);

    expect(attempt([PARENTS, REBUILD]).copy).not.toBe(second);
    expect(copiesOf(at)).toHaveLength(3);
  });

  test("an upgrade that was killed continues with its copy and leaves nothing unfinished", async () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    at.sqlite.close(true);
    {
      await using upgrade = startChild("endless-upgrade.ts", at.directory.path, PARENTS.sql);
      expect(await upgrade.line()).toBe("filled");
      await upgrade.kill();
    }
    expect(logBytes(at.directory)).toBeGreaterThan(1_000_000);
    const [copy = ""] = copiesOf(at);
    // As a kill a moment earlier leaves it.
    writeFileSync(
      join(at.directory.backups, "before-schema-3-0123456789abcdef.db.unfinished"),
      "x",
    );
    using sqlite = openSqlite(at.directory.database, 0);
    expect(count(sqlite, "parents")).toBe(1);
    const last: Migration = { number: 3, name: "last", sql: "DROP TABLE children" };
    const report = migrate(sqlite, at.directory, [PARENTS, REBUILD, last]);
    expect(report).toEqual({ from: 1, to: 3, copy });
    expect(copiesOf(at)).toEqual([copy]);
  });

  test("a migration that leaves broken foreign keys is rejected", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    fillParents(at.sqlite);
    const orphaning = { number: 2, name: "orphaning", sql: "DELETE FROM parents" };
    expect(() => migrate(at.sqlite, at.directory, [PARENTS, orphaning])).toThrow(
      "failed and was rolled back. Migration 2 (orphaning): it leaves 2 broken foreign keys",
    );
    expect(count(at.sqlite, "parents")).toBe(1);
    expect(schemaVersion(at.sqlite)).toBe(1);
  });

  test("a database made with another text of a migration is rejected", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS]);
    const edited = { ...PARENTS, sql: `${PARENTS.sql} ` };
    const upgrade = () => migrate(at.sqlite, at.directory, [edited, REBUILD]);
    expect(upgrade).toThrow(OperatorError);
    expect(upgrade).toThrow("another migration 1 (parents) than this Allclear's");
    expect(schemaVersion(at.sqlite)).toBe(1);
    expect(existsSync(at.directory.backups)).toBe(false);
  });

  test("a database with a newer schema is rejected, naming both versions", () => {
    using at = place();
    migrate(at.sqlite, at.directory, [PARENTS, REBUILD]);
    const open = () => migrate(at.sqlite, at.directory, [PARENTS]);
    expect(open).toThrow(OperatorError);
    expect(open).toThrow("The database has schema version 2, this Allclear knows 1.");
    expect(schemaVersion(at.sqlite)).toBe(2);
  });

  test("migrating does nothing if the copy cannot be made", () => {
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

  test("migrating while another process writes is rejected and changes nothing", () => {
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
