import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createDb, type Db } from "../../src/db/database";
import { OperatorError } from "../../src/db/errors";
import { copyDatabase } from "../../src/db/copies";
import { migrate } from "../../src/db/migrations";
import { isAllclearDatabase, isSound, openSqlite, pragma } from "../../src/db/open";
import { startChild } from "../support/child";
import { createTestClock } from "../support/clock";
import { NOTES_SQL } from "../support/database";
import { createTestLog } from "../support/log";
import { temporaryFolder } from "../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

/** A migrated database with a table of notes, as a command has it open. */
function openMigrated(path: string): Disposable & { db: Db; sqlite: Database } {
  const sqlite = openSqlite(path, 0);
  migrate(sqlite, undefined);
  sqlite.run(NOTES_SQL);
  const db = createDb(sqlite, createTestClock(), createTestLog("info").log);
  return { db, sqlite, [Symbol.dispose]: () => db.close() };
}

/** A connection that calls `note` before and after each `VACUUM INTO`. */
function watchedDatabase(path: string, note: () => void): Database {
  const sqlite = new Database(path);
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = ((sql: string) => {
    const statement = prepare(sql);
    if (!sql.startsWith("VACUUM")) return statement;
    return {
      run(target: string) {
        note();
        statement.run(target);
        note();
      },
    };
  }) as typeof sqlite.prepare;
  return sqlite;
}

function notesIn(file: string): string[] {
  using copy = new Database(file, { readonly: true });
  expect(isAllclearDatabase(copy)).toBe(true);
  expect(isSound(copy)).toBe(true);
  const rows = copy.query<{ text: string }, []>("SELECT text FROM notes ORDER BY text").all();
  return rows.map((row) => row.text);
}

describe("a backup", () => {
  test("a backup is one sound file with everything that was committed, also from the log", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    at.sqlite.run("INSERT INTO notes VALUES ('only in the log so far')");
    const file = join(folder.path, "copy.db");
    at.db.copyTo(file);
    expect(notesIn(file)).toEqual(["only in the log so far"]);
    expect(readdirSync(folder.path).filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);
    using copy = new Database(file, { readonly: true });
    expect(pragma(copy, "auto_vacuum")).toBe(2);
  });

  test("a backup can be read only by its owner and group", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    const file = join(folder.path, "copy.db");
    at.db.copyTo(file);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test("an unfinished backup can be read only by its owner, under any umask", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    const file = join(folder.path, "copy.db");
    const modes: string[] = [];
    const note = () => modes.push((statSync(`${file}.unfinished`).mode & 0o777).toString(8));
    using watched = watchedDatabase(at.sqlite.filename, note);
    const umask = process.umask(0);
    try {
      copyDatabase(watched, file);
    } finally {
      process.umask(umask);
    }
    expect(modes).toEqual(["600", "600"]);
    expect(notesIn(file)).toEqual([]);
  });

  test("a backup does not write through a link in place of its unfinished file", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    const file = join(folder.path, "copy.db");
    const other = join(folder.path, "other");
    writeFileSync(other, "precious");
    symlinkSync(other, `${file}.unfinished`);
    at.db.copyTo(file);
    expect(notesIn(file)).toEqual([]);
    expect(readFileSync(other, "utf8")).toBe("precious");
  });

  test("a backup contains nothing of another connection's open transaction", () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    using at = openMigrated(path);
    using writing = new Database(path);
    writing.run("INSERT INTO notes VALUES ('committed')");
    writing.run("BEGIN IMMEDIATE");
    writing.run("INSERT INTO notes VALUES ('half of it')");
    at.db.copyTo(join(folder.path, "copy.db"));
    writing.run("INSERT INTO notes VALUES ('the other half')");
    writing.run("COMMIT");
    expect(notesIn(join(folder.path, "copy.db"))).toEqual(["committed"]);
    at.db.copyTo(join(folder.path, "later.db"));
    expect(notesIn(join(folder.path, "later.db"))).toHaveLength(3);
  });

  test("backups can be taken repeatedly while another process writes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    using at = openMigrated(path);
    await using writer = startChild("store-notes.ts", path);
    for (const name of ["first.db", "second.db", "third.db"]) {
      const acknowledged = await writer.line();
      at.db.copyTo(join(folder.path, name));
      const notes = notesIn(join(folder.path, name));
      expect(notes).toContain(`${acknowledged} second`);
      expect(notes.filter((note) => note.endsWith("first"))).toHaveLength(notes.length / 2);
    }
    const before = Number(await writer.line());
    expect(Number(await writer.line())).toBe(before + 1);
  });

  test("a backup to an existing file is rejected and does not change that file", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    const file = join(folder.path, "precious.txt");
    writeFileSync(file, "precious");
    expect(() => at.db.copyTo(file)).toThrow(OperatorError);
    expect(() => at.db.copyTo(file)).toThrow(`${file} exists already; name a new file.`);
    expect(readFileSync(file, "utf8")).toBe("precious");
  });

  test("a backup to a missing folder is rejected with a sentence", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    const file = join(folder.path, "nowhere", "copy.db");
    expect(() => at.db.copyTo(file)).toThrow(OperatorError);
    expect(() => at.db.copyTo(file)).toThrow(`The backup ${file} could not be written: `);
    expect(existsSync(join(folder.path, "nowhere"))).toBe(false);
  });

  test("a backup is not blocked by what an interrupted one left", () => {
    using folder = temporaryFolder();
    using at = openMigrated(join(folder.path, "allclear.db"));
    const file = join(folder.path, "copy.db");
    writeFileSync(`${file}.unfinished`, "half a file");
    at.db.copyTo(file);
    expect(notesIn(file)).toEqual([]);
    expect(existsSync(`${file}.unfinished`)).toBe(false);
  });
});

describe.skipIf(!hasTinyDisks())("a backup to a disk that is too small", () => {
  test("a backup to a disk that is too small is rejected, leaves no file and does not change the database", () => {
    using disk = mountTinyDisk();
    using folder = temporaryFolder();
    const path = join(folder.path, "allclear.db");
    using at = openMigrated(path);
    at.sqlite.run("INSERT INTO notes VALUES ('kept')");
    disk.fill(8 * 1024);
    const file = join(disk.path, "copy.db");
    expect(() => at.db.copyTo(file)).toThrow(`The backup ${file} could not be written: `);
    expect(readdirSync(disk.path)).toEqual(["filler"]);
    expect(pragma(at.sqlite, "integrity_check")).toBe("ok");
    at.db.copyTo(join(folder.path, "copy.db"));
    expect(notesIn(join(folder.path, "copy.db"))).toEqual(["kept"]);
  });
});
