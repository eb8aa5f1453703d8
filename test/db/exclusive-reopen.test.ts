import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createDb } from "../../src/db/database";
import type { StorageState } from "../../src/db/storage-watch";
import { APPLICATION_ID, configure } from "../../src/db/open";
import { createTestClock } from "../support/clock";
import { addNote, committedNotes, NOTES_SQL, notesOf, outcomesOf } from "../support/database";
import { createTestLog } from "../support/log";
import { temporaryFolder } from "../support/temporary-folder";

/** A database with one note, opened exclusively as on a full disk, while there is room on the disk. */
async function openExclusively() {
  const folder = temporaryFolder();
  const here = join(folder.path, "data");
  mkdirSync(here);
  const path = join(here, "notes.db");
  const sqlite = new Database(path, { create: true, readwrite: true, strict: true });
  sqlite.run("PRAGMA locking_mode = EXCLUSIVE");
  configure(sqlite, path);
  sqlite.run(NOTES_SQL);
  const clock = createTestClock();
  const { log, lines } = createTestLog("info");
  const db = createDb(sqlite, clock, log);
  await db.write((tx) => addNote(tx, "before"));
  return {
    db,
    sqlite,
    clock,
    here,
    path,
    logged: lines,
    add: (note: string) => outcomesOf(db.write((tx) => addNote(tx, note))),
    [Symbol.dispose]() {
      db.close();
      folder[Symbol.dispose]();
    },
  };
}

const STORES: StorageState = { fault: undefined, isDamaged: false };
const MOVED: StorageState = { fault: "moved", isDamaged: false };

describe("sharing a database that was opened exclusively", () => {
  test("an exclusively opened database is shared at the first retry, and commits of others are noticed", async () => {
    using at = await openExclusively();
    expect(() => committedNotes(at.path)).toThrow("locked");
    const version = at.db.foreignVersion();
    await at.clock.advance(1_000);
    expect(committedNotes(at.path)).toEqual(["before"]);
    // Another process may have committed while the database was closed.
    const shared = at.db.foreignVersion();
    expect(shared).not.toBe(version);
    using other = new Database(at.path);
    other.run("INSERT INTO notes VALUES ('by another process')");
    expect(at.db.foreignVersion()).not.toBe(shared);
    expect(await at.add("after")).toEqual(["stored"]);
  });

  test("the connection is kept while the data directory is moved away, and shared once it is back", async () => {
    using at = await openExclusively();
    renameSync(at.here, `${at.here}-away`);
    await at.clock.advance(1_000);
    expect(at.db.storage()).toEqual(MOVED);
    expect(notesOf(at.db)).toEqual(["before"]);
    expect(existsSync(at.here)).toBe(false);

    renameSync(`${at.here}-away`, at.here);
    await at.clock.advance(2_000);
    expect(at.db.storage()).toEqual(STORES);
    expect(committedNotes(at.path)).toEqual(["before"]);
  });

  test("no database is created if the files were deleted from the data directory", async () => {
    using at = await openExclusively();
    for (const name of readdirSync(at.here)) rmSync(join(at.here, name));
    await at.clock.advance(60_000);
    expect(at.db.storage()).toEqual(MOVED);
    expect(await at.add("lost")).toEqual(["unavailable"]);
    expect(notesOf(at.db)).toEqual(["before"]);
    expect(readdirSync(at.here)).toEqual([]);
  });
});

describe("a database that cannot be opened again", () => {
  /** Has the next opening fail, as that of another program's database. */
  async function failOpening(at: Awaited<ReturnType<typeof openExclusively>>): Promise<void> {
    at.sqlite.run("PRAGMA application_id = 1234");
    await at.clock.advance(1_000);
  }

  function repair(path: string): void {
    using other = new Database(path);
    other.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  }

  test("reads and writes are unavailable until a retry opens the database", async () => {
    using at = await openExclusively();
    await failOpening(at);
    const version = at.db.foreignVersion();
    expect(at.db.storage()).toEqual({ fault: "failing", isDamaged: false });
    expect(await at.db.checkStorage()).toEqual({ fault: "failing", isDamaged: false });
    expect(() => notesOf(at.db)).toThrow(expect.objectContaining({ code: "unavailable" }));
    expect(() => at.db.figures()).toThrow(expect.objectContaining({ code: "unavailable" }));
    expect(await at.add("refused")).toEqual(["unavailable"]);
    await at.clock.advance(3_000);
    expect(await at.add("refused")).toEqual(["unavailable"]);
    expect(at.db.foreignVersion()).toBe(version);

    repair(at.path);
    await at.clock.advance(1_000);
    expect(at.db.storage()).toEqual(STORES);
    expect(at.db.foreignVersion()).not.toBe(version);
    expect(await at.add("after")).toEqual(["stored"]);
    expect(committedNotes(at.path)).toEqual(["after", "before"]);
    expect(at.logged.at(-1)?.msg).toBe("changes are stored again");
  });

  test("a retry neither creates a deleted database nor opens another one in its place", async () => {
    using at = await openExclusively();
    await failOpening(at);
    renameSync(at.path, `${at.path}-away`);
    await at.clock.advance(1_000);
    expect(at.db.storage()).toEqual(MOVED);
    expect(existsSync(at.path)).toBe(false);
    {
      using another = new Database(at.path, { create: true });
      configure(another, at.path);
      another.run(NOTES_SQL);
    }
    await at.clock.advance(1_000);
    expect(at.db.storage()).toEqual(MOVED);
    expect(() => notesOf(at.db)).toThrow(expect.objectContaining({ code: "unavailable" }));

    rmSync(at.path);
    repair(`${at.path}-away`);
    renameSync(`${at.path}-away`, at.path);
    await at.clock.advance(1_000);
    expect(at.db.storage()).toEqual(STORES);
    expect(notesOf(at.db)).toEqual(["before"]);
  });

  test("a database that cannot be opened again can be closed and rejects waiting changes", async () => {
    using at = await openExclusively();
    await failOpening(at);
    const change = at.add("refused");
    at.db.close();
    expect(await change).toEqual(["unavailable"]);
    repair(at.path);
    await at.clock.advance(2_000);
    expect(committedNotes(at.path)).toEqual(["before"]);
  });
});
