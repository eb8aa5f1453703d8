import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { closeSqlite, openSqlite, pragma } from "../../src/db/open";
import { addNote, openNotes } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

describe("a database that was opened", () => {
  test("an opened database has the required settings, whether new or not", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    for (const _opening of ["new", "again"]) {
      using sqlite = openSqlite(path, 0);
      sqlite.run("CREATE TABLE IF NOT EXISTS something (id INTEGER PRIMARY KEY) STRICT");
      expect(pragma(sqlite, "journal_mode")).toBe("wal");
      expect(pragma(sqlite, "synchronous")).toBe(2);
      expect(pragma(sqlite, "foreign_keys")).toBe(1);
      expect(pragma(sqlite, "trusted_schema")).toBe(0);
      // 2: in memory, so that no transaction needs a place for temporary files.
      expect(pragma(sqlite, "temp_store")).toBe(2);
      expect(pragma(sqlite, "auto_vacuum")).toBe(2);
      expect(pragma(sqlite, "journal_size_limit")).toBe(64 * 1024 * 1024);
      expect(pragma(sqlite, "busy_timeout")).toBe(0);
    }
  });

  test("SQLite waits for a lock only as long as the given time", () => {
    using sqlite = openSqlite(":memory:", 5_000);
    expect(pragma(sqlite, "busy_timeout")).toBe(5_000);
  });

  test("a statement with a missing parameter is rejected instead of storing NULL", () => {
    using sqlite = openSqlite(":memory:", 0);
    sqlite.run("CREATE TABLE something (id INTEGER PRIMARY KEY, name TEXT) STRICT");
    const insert = sqlite.prepare("INSERT INTO something (name) VALUES ($name)");
    expect(() => insert.run({ nmae: "typo" })).toThrow('Missing parameter "name"');
    insert.run({ name: "right" });
    expect(sqlite.query("SELECT name FROM something").all()).toEqual([{ name: "right" }]);
  });

  test("closing releases the files of a database regardless of prepared statements", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const notes = openNotes(path);
    await notes.db.write((tx) => addNote(tx, "a"));
    const forgotten = notes.sqlite.prepare("SELECT * FROM notes");
    forgotten.all();
    notes.db.close();
    expect(() => forgotten.all()).toThrow("closed");
    // Only the last connection to close takes the log away.
    expect(await Bun.file(`${path}-wal`).exists()).toBe(false);
    expect(notes.logged).toEqual([]);
  });
});

describe("a file that is no database of Allclear's", () => {
  function expectRejected(path: string, message: string): void {
    const before = readFileSync(path);
    expect(() => openSqlite(path, 0)).toThrow(OperatorError);
    expect(() => openSqlite(path, 0)).toThrow(message);
    expect(readFileSync(path).equals(before)).toBe(true);
  }

  test("a text file is rejected as a database and not changed", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    writeFileSync(path, "This is not a database. ".repeat(200));
    expectRejected(path, `${path} is not a database, or it is damaged.`);
  });

  test("a database of another program is rejected and not changed", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    const other = new Database(path);
    other.run("CREATE TABLE theirs (id INTEGER PRIMARY KEY)");
    closeSqlite(other);
    expectRejected(path, `${path} is another program's database.`);
  });

  test("a folder is rejected as a database with a sentence", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    mkdirSync(path);
    expect(() => openSqlite(path, 0)).toThrow(OperatorError);
    expect(() => openSqlite(path, 0)).toThrow(`${path} cannot be opened: `);
  });
});

describe("the version of foreign changes", () => {
  test("foreignVersion changes with another connection's commit only", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    using other = openSqlite(path, 0);
    const first = notes.db.foreignVersion();
    await notes.db.write((tx) => addNote(tx, "our own"));
    expect(notes.db.foreignVersion()).toBe(first);

    other.run("BEGIN IMMEDIATE");
    other.run("INSERT INTO notes VALUES ('rolled back')");
    other.run("ROLLBACK");
    expect(notes.db.foreignVersion()).toBe(first);

    other.run("INSERT INTO notes VALUES ('theirs')");
    expect(notes.db.foreignVersion()).not.toBe(first);
  });

  test("foreignVersion does not change or throw while the database cannot be read", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    {
      using _made = openNotes(path);
    }
    using notes = openNotes(path);
    const first = notes.db.foreignVersion();
    // With exclusive locking, which some tools use, not even reading is possible.
    notes.sqlite.run("PRAGMA journal_mode = DELETE");
    using other = new Database(path);
    other.run("BEGIN EXCLUSIVE");
    other.run("INSERT INTO notes VALUES ('theirs')");
    expect(notes.db.foreignVersion()).toBe(first);
    other.run("COMMIT");
    expect(notes.db.foreignVersion()).not.toBe(first);
  });
});
