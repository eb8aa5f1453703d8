import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock";
import { startChild } from "../support/child";
import { createTestClock, settle } from "../support/clock";
import { addNote, committedNotes, notesOf, openNotes, outcomesOf } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

/** A requested change and its progress. */
function watch(change: Promise<unknown>): { state: string; end: Promise<unknown> } {
  const watched = { state: "waiting", end: Promise.resolve() as Promise<unknown> };
  watched.end = outcomesOf(change).then(([outcome]) => {
    watched.state = outcome ?? "";
  });
  return watched;
}

/** Another connection, as another process has it, in the middle of a write. */
function lockedBy(path: string): Database {
  const other = new Database(path);
  other.run("BEGIN IMMEDIATE");
  return other;
}

describe("while another process is writing", () => {
  test("a change waits for another process and is then stored", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const clock = createTestClock();
    using notes = openNotes(path, clock);
    using other = lockedBy(path);
    const change = watch(notes.db.write((tx) => addNote(tx, "patient")));

    await clock.advance(4_900);
    expect(change.state).toBe("waiting");
    expect(committedNotes(path)).toEqual([]);

    other.run("INSERT INTO notes VALUES ('by the other')");
    other.run("COMMIT");
    await clock.advance(25);
    expect(change.state).toBe("stored");
    expect(committedNotes(path)).toEqual(["by the other", "patient"]);
  });

  test("a change is rejected after waiting five seconds, and nothing of it is stored", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const clock = createTestClock();
    using notes = openNotes(path, clock);
    using other = lockedBy(path);
    const early = watch(notes.db.write((tx) => addNote(tx, "early")));
    await clock.advance(2_000);
    const late = watch(notes.db.write((tx) => addNote(tx, "late")));

    await clock.advance(2_999);
    expect(early.state).toBe("waiting");
    await clock.advance(1);
    expect(early.state).toBe("unavailable");
    expect(late.state).toBe("waiting");

    other.run("ROLLBACK");
    await clock.advance(25);
    expect(late.state).toBe("stored");
    expect(committedNotes(path)).toEqual(["late"]);
  });

  test("the writer works as before after all waiting changes were rejected", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const clock = createTestClock();
    using notes = openNotes(path, clock);
    using other = lockedBy(path);
    const change = watch(notes.db.write((tx) => addNote(tx, "refused")));
    await clock.advance(5_000);
    expect(change.state).toBe("unavailable");

    other.run("ROLLBACK");
    await notes.db.write((tx) => addNote(tx, "stored"));
    expect(committedNotes(path)).toEqual(["stored"]);
  });

  test("reads continue while another process writes, and see what was committed", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    await notes.db.write((tx) => addNote(tx, "before"));
    using other = lockedBy(path);
    other.run("INSERT INTO notes VALUES ('not yet committed')");
    expect(notesOf(notes.db)).toEqual(["before"]);
    other.run("COMMIT");
    expect(notesOf(notes.db)).toEqual(["before", "not yet committed"]);
  });

  test("the event loop is not blocked while another process writes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path, systemClock());
    await using child = startChild("hold-write-lock.ts", path);
    expect(await child.line()).toBe("held");
    const change = watch(notes.db.write((tx) => addNote(tx, "patient")));

    // The other process lets go only when timers of this one have ticked. Were this one blocked, the
    // change would have been refused by then.
    const { promise: ticked, resolve } = Promise.withResolvers<void>();
    let ticks = 0;
    const timer = setInterval(() => ++ticks >= 10 && resolve(), 5);
    await ticked;
    clearInterval(timer);
    expect(change.state).toBe("waiting");

    child.send("let go");
    expect(await child.line()).toBe("released");
    await change.end;
    expect(change.state).toBe("stored");
    expect(committedNotes(path)).toEqual(["patient"]);
  });
});

describe("a change that waits when the database is closed", () => {
  test("a change that waits at closing is stored if the database becomes free", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const notes = openNotes(path);
    const change = watch(notes.db.write((tx) => addNote(tx, "in time")));
    notes.db.close();
    await change.end;
    expect(change.state).toBe("stored");
    expect(committedNotes(path)).toEqual(["in time"]);
  });

  test("a change that waits at closing is rejected if the database stays locked, as are later ones", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const notes = openNotes(path);
    using other = lockedBy(path);
    const change = watch(notes.db.write((tx) => addNote(tx, "too late")));
    await settle();
    notes.db.close();
    const later = notes.db.write((tx) => addNote(tx, "after the end"));
    await expect(later).rejects.toMatchObject({
      code: "unavailable",
      message: "The server is shutting down.",
    });
    await change.end;
    expect(change.state).toBe("unavailable");
    other.run("ROLLBACK");
    expect(committedNotes(path)).toEqual([]);
  });
});
