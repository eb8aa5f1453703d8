import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createTestClock } from "../support/clock";
import {
  addNote,
  committedNotes,
  committedTransactions,
  notesOf,
  openNotes,
} from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

describe("group commit", () => {
  test("writes of one turn of the event loop share a commit, those of different turns do not", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    const before = committedTransactions(path);

    const names = Array.from({ length: 50 }, (_, i) => `together ${i}`);
    await Promise.all(names.map((name) => notes.db.write((tx) => addNote(tx, name))));
    expect(committedTransactions(path) - before).toBe(1);
    expect(committedNotes(path)).toHaveLength(50);

    for (const name of ["one", "two", "three"]) await notes.db.write((tx) => addNote(tx, name));
    expect(committedTransactions(path) - before).toBe(4);
  });

  test("no write is acknowledged before the commit that contains it", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    const acknowledged: string[] = [];
    const store = (name: string) =>
      notes.db
        .write((tx) => {
          addNote(tx, name);
          return { acknowledged: [...acknowledged], committed: committedNotes(path) };
        })
        .then((seen) => {
          acknowledged.push(name);
          return { seen, committedNow: committedNotes(path) };
        });

    const [first, second] = await Promise.all([store("a"), store("b")]);
    expect(first?.seen).toEqual({ acknowledged: [], committed: [] });
    expect(second?.seen).toEqual({ acknowledged: [], committed: [] });
    expect(first?.committedNow).toEqual(["a", "b"]);
    expect(acknowledged).toEqual(["a", "b"]);
  });

  test("each write returns the result of its own callback, in order", async () => {
    using notes = openNotes();
    const answers = await Promise.all(
      ["a", "b", "c"].map((name) =>
        notes.db.write((tx) => {
          addNote(tx, name);
          return notesOf(tx);
        }),
      ),
    );
    expect(answers).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
  });

  test("a thousand concurrent writes are all stored, and the event loop turns between their batches", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    const before = committedTransactions(path);
    const writes = Array.from({ length: 1_000 }, (_, i) =>
      notes.db.write((tx) => addNote(tx, `note ${i}`)),
    );
    const committedInBetween = new Promise<number>((resolve) =>
      setImmediate(() => resolve(committedNotes(path).length)),
    );

    expect(await committedInBetween).toBe(256);
    await Promise.all(writes);
    expect(committedNotes(path)).toHaveLength(1_000);
    expect(committedTransactions(path) - before).toBe(4);
  });

  test("a batch that has taken ten milliseconds leaves the remaining writes to the next one", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    const clock = createTestClock();
    using notes = openNotes(path, clock);
    const before = committedTransactions(path);
    const takes = (ms: number, note: string) =>
      notes.db.write((tx) => {
        addNote(tx, note);
        void clock.advance(ms);
      });

    await Promise.all([takes(9, "quick"), takes(0, "with it")]);
    expect(committedTransactions(path) - before).toBe(1);
    await Promise.all([takes(10, "slow"), takes(0, "after it")]);
    expect(committedTransactions(path) - before).toBe(3);
    expect(committedNotes(path)).toEqual(["after it", "quick", "slow", "with it"]);
  });
});
