import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import type { Tx } from "../../src/db/statements";
import { openSqlite } from "../../src/db/open";
import { createTestClock } from "../support/clock";
import { addNote, committedNotes, notesOf, openNotes, outcomesOf } from "../support/database";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

describe.skipIf(!hasTinyDisks())("on a disk that is full", () => {
  test("a change on a full disk is rejected while reads continue, and stored once there is space", async () => {
    using disk = mountTinyDisk();
    const path = join(disk.path, "notes.db");
    using notes = openNotes(path);
    await notes.db.write((tx) => addNote(tx, "before"));

    disk.fill();
    const outcomes = await outcomesOf(
      notes.db.write((tx) => addNote(tx, "small")),
      notes.db.write((tx) => addNote(tx, "another")),
    );
    expect(outcomes).toEqual(["unavailable", "unavailable"]);
    expect(notes.sqlite.inTransaction).toBe(false);
    expect(notesOf(notes.db)).toEqual(["before"]);
    expect(notes.logged.at(-1)).toMatchObject({ msg: "changes could not be stored", callbacks: 2 });

    disk.free();
    await notes.db.write((tx) => addNote(tx, "after"));
    expect(committedNotes(path)).toEqual(["after", "before"]);
  });

  test("a change too large for the free space is rejected, and a smaller one after it is stored", async () => {
    using disk = mountTinyDisk();
    const path = join(disk.path, "notes.db");
    using notes = openNotes(path);
    disk.fill(64 * 1024);
    const large = "long ".repeat(100_000);
    expect(await outcomesOf(notes.db.write((tx) => addNote(tx, large)))).toEqual(["unavailable"]);
    expect(await outcomesOf(notes.db.write((tx) => addNote(tx, "small")))).toEqual(["stored"]);
    expect(committedNotes(path)).toEqual(["small"]);
  });

  // With a checkpoint after every commit the main file has to grow too, not only the log.
  test.each([1_000, 1])(
    "while the disk fills up, exactly the acknowledged changes survive a restart (checkpoint every %d pages)",
    async (checkpointPages) => {
      using disk = mountTinyDisk("1m");
      const path = join(disk.path, "notes.db");
      const outcomes: string[] = [];
      {
        using notes = openNotes(path);
        notes.sqlite.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
        const padding = "padding ".repeat(1_000);
        for (let number = 0; number < 200; number++) {
          const change = notes.db.write((tx) => addNote(tx, `${number} ${padding}`));
          outcomes.push(...(await outcomesOf(change)));
        }
      }
      expect(new Set(outcomes)).toEqual(new Set(["stored", "unavailable"]));
      using reopened = openNotes(path);
      const found = notesOf(reopened.db).map((note) => Number(note.split(" ", 1)[0]));
      const stored = outcomes.flatMap((outcome, number) => (outcome === "stored" ? [number] : []));
      expect(found.sort((a, b) => a - b)).toEqual(stored);
    },
  );

  test("closing on a full disk keeps the log for the next start, which finds everything", async () => {
    using disk = mountTinyDisk();
    const path = join(disk.path, "notes.db");
    const notes = openNotes(path);
    await notes.db.write((tx) => addHundred(tx));
    disk.fill();
    notes.db.close();
    expect(notes.logged).toMatchObject([
      { msg: "the write-ahead log was left for the next start" },
    ]);
    {
      using reopened = openNotes(path);
      expect(notesOf(reopened.db)).toHaveLength(100);
    }
    disk.free();
    using reopened = openNotes(path);
    expect(notesOf(reopened.db)).toHaveLength(100);
  });

  test("a database that was closed properly can be read on a full disk, and stores changes once there is space", async () => {
    using disk = mountTinyDisk();
    const path = join(disk.path, "notes.db");
    {
      using notes = openNotes(path);
      await notes.db.write((tx) => addHundred(tx));
    }
    disk.fill();
    const clock = createTestClock();
    using notes = openNotes(path, clock);
    expect(notesOf(notes.db)).toHaveLength(100);
    expect(await outcomesOf(notes.db.write((tx) => addNote(tx, "refused")))).toEqual([
      "unavailable",
    ]);
    expect(notes.db.storage()).toEqual({ fault: "disk_full", isDamaged: false });
    // No shared memory can be made: the database is this connection's alone.
    expect(() => committedNotes(path)).toThrow("locked");

    disk.free();
    await clock.advance(1_000);
    expect(notes.db.storage()).toEqual({ fault: undefined, isDamaged: false });
    await notes.db.write((tx) => addNote(tx, "after"));
    expect(committedNotes(path)).toHaveLength(101);
  });

  test("a database opened on a full disk is shared with other processes once a retry finds space", async () => {
    using disk = mountTinyDisk();
    const path = join(disk.path, "notes.db");
    {
      using notes = openNotes(path);
      await notes.db.write((tx) => addNote(tx, "before"));
    }
    disk.fill();
    const clock = createTestClock();
    using notes = openNotes(path, clock);
    disk.free();
    disk.fill(128 * 1024);
    await clock.advance(1_000);
    await notes.db.write((tx) => addNote(tx, "after"));
    expect(notes.db.storage().fault).toBeUndefined();
    expect(() => committedNotes(path)).toThrow("locked");
    disk.free();
    await clock.advance(1_000);
    expect(committedNotes(path)).toEqual(["after", "before"]);
  });

  test("creating a database on a full disk is rejected with a sentence", () => {
    using disk = mountTinyDisk();
    const path = join(disk.path, "notes.db");
    disk.fill();
    expect(() => openSqlite(path, 0)).toThrow(OperatorError);
    expect(() => openSqlite(path, 0)).toThrow(`${path} cannot be opened: `);
  });
});

function addHundred(tx: Tx): void {
  for (let number = 0; number < 100; number++) addNote(tx, `${number} ${"x".repeat(1_000)}`);
}
