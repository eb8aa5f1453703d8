import { describe, expect, test } from "bun:test";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Tx } from "../../src/db/statements";
import { settle } from "../support/clock";
import { addNote, notes as notesTable, notesOf, openNotes, outcomesOf } from "../support/database";

describe("one callback of db.write", () => {
  test("a callback that throws is rolled back alone, and others of its batch commit", async () => {
    using notes = openNotes();
    const outcomes = await outcomesOf(
      notes.db.write((tx) => addNote(tx, "before")),
      notes.db.write((tx) => {
        addNote(tx, "undone");
        throw new Error("no");
      }),
      notes.db.write((tx) => addNote(tx, "after")),
    );
    expect(outcomes).toEqual(["stored", "no", "stored"]);
    expect(notesOf(notes.db)).toEqual(["after", "before"]);
  });

  test("a callback that violates a constraint is rolled back alone and gets that error", async () => {
    using notes = openNotes();
    const outcomes = await outcomesOf(
      notes.db.write((tx) => addNote(tx, "taken")),
      notes.db.write((tx) => {
        addNote(tx, "undone");
        addNote(tx, "taken");
      }),
      notes.db.write((tx) => addNote(tx, "after")),
    );
    expect(outcomes).toEqual(["stored", "UNIQUE constraint failed: notes.text", "stored"]);
    expect(notesOf(notes.db)).toEqual(["after", "taken"]);
  });

  test("a callback that meets a failing disk is rejected alone as unavailable, and the cause is logged", async () => {
    using notes = openNotes();
    const cause = Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_READ" });
    const outcomes = await outcomesOf(
      notes.db.write((tx) => {
        addNote(tx, "undone");
        throw new Error("Failed query", { cause });
      }),
      notes.db.write((tx) => addNote(tx, "neighbour")),
    );
    expect(outcomes).toEqual(["unavailable", "stored"]);
    expect(notesOf(notes.db)).toEqual(["neighbour"]);
    expect(notes.logged).toMatchObject([{ msg: "changes could not be stored", callbacks: 1 }]);
    expect(JSON.stringify(notes.logged)).toContain("disk I/O error");
  });

  test("a callback can catch a constraint error, which undoes only that statement", async () => {
    using notes = openNotes();
    await notes.db.write((tx) => {
      addNote(tx, "taken");
      expect(() => addNote(tx, "taken")).toThrow("UNIQUE");
      addNote(tx, "another");
    });
    expect(notesOf(notes.db)).toEqual(["another", "taken"]);
  });

  test("a callback that calls db.write throws, and neither is stored", async () => {
    using notes = openNotes();
    const outcomes = await outcomesOf(
      notes.db.write((tx) => {
        addNote(tx, "outer");
        void notes.db.write((inner) => addNote(inner, "inner"));
      }),
      notes.db.write((tx) => addNote(tx, "neighbour")),
    );
    expect(outcomes).toEqual(["db.write was called inside the callback of another", "stored"]);
    await settle();
    expect(notesOf(notes.db)).toEqual(["neighbour"]);
  });

  test("an asynchronous callback is rejected, and nothing before or after its await is stored", async () => {
    using notes = openNotes();
    let afterAwait: unknown;
    const outcomes = await outcomesOf(
      notes.db.write(async (tx) => {
        addNote(tx, "before the await");
        await Promise.resolve();
        try {
          addNote(tx, "after the await");
        } catch (error) {
          afterAwait = error;
          throw error;
        }
      }),
      notes.db.write((tx) => addNote(tx, "neighbour")),
    );
    expect(outcomes).toEqual([
      "the callback of db.write must be synchronous, and this one gave a promise",
      "stored",
    ]);
    await settle();
    expect(afterAwait).toEqual(new Error("a transaction was used after its callback returned"));
    expect(notesOf(notes.db)).toEqual(["neighbour"]);
  });

  test("a callback that returns a query without running it is rejected, and the query never runs", async () => {
    using notes = openNotes();
    const orm = drizzle(notes.sqlite);
    const [outcome] = await outcomesOf(
      notes.db.write(() => orm.insert(notesTable).values({ text: "forgotten" })),
    );
    expect(outcome).toContain("must be synchronous");
    await settle();
    expect(notesOf(notes.db)).toEqual([]);
  });
});

describe("a finished transaction", () => {
  test("a transaction cannot be used after its callback has returned", async () => {
    using notes = openNotes();
    let kept: Tx | undefined;
    await notes.db.write((tx) => {
      kept = tx;
      addNote(tx, "in time");
    });
    const late = kept as Tx;
    const over = "a transaction was used after its callback returned";
    expect(() => addNote(late, "late")).toThrow(over);
    expect(() => notesOf(late)).toThrow(over);
    expect(() => late.afterCommit(() => {})).toThrow(over);
    expect(notesOf(notes.db)).toEqual(["in time"]);
  });

  test("a transaction cannot be used by other callbacks, even in the same batch", async () => {
    using notes = openNotes();
    let kept: Tx | undefined;
    const outcomes = await outcomesOf(
      notes.db.write((tx) => {
        kept = tx;
        addNote(tx, "mine");
      }),
      notes.db.write(() => addNote(kept as Tx, "through another's transaction")),
    );
    expect(outcomes).toEqual(["stored", "a transaction was used after its callback returned"]);
    expect(notesOf(notes.db)).toEqual(["mine"]);
  });

  test("a transaction cannot be used after its callback has thrown", async () => {
    using notes = openNotes();
    let kept: Tx | undefined;
    const [outcome] = await outcomesOf(
      notes.db.write((tx) => {
        kept = tx;
        throw new Error("no");
      }),
    );
    expect(outcome).toBe("no");
    expect(() => addNote(kept as Tx, "late")).toThrow("after its callback returned");
    expect(notesOf(notes.db)).toEqual([]);
  });
});
