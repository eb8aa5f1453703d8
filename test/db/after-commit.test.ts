import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { settle } from "../support/clock";
import { addNote, committedNotes, notesOf, openNotes, outcomesOf } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

describe("tx.afterCommit", () => {
  test("an afterCommit effect runs once after the commit and before its caller resumes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    const happened: string[] = [];
    await notes.db
      .write((tx) => {
        tx.afterCommit(() => happened.push(`effect sees ${committedNotes(path).join()}`));
        addNote(tx, "a");
        happened.push("callback");
      })
      .then(() => happened.push("caller"));
    expect(happened).toEqual(["callback", "effect sees a", "caller"]);
  });

  test("an afterCommit effect of a callback that was rolled back never runs, while others of the batch do", async () => {
    using notes = openNotes();
    const ran: string[] = [];
    await outcomesOf(
      notes.db.write((tx) => {
        tx.afterCommit(() => ran.push("of the failed"));
        throw new Error("no");
      }),
      notes.db.write(async (tx) => {
        tx.afterCommit(() => ran.push("of the asynchronous"));
      }),
      notes.db.write((tx) => tx.afterCommit(() => ran.push("of the neighbour"))),
    );
    expect(ran).toEqual(["of the neighbour"]);
  });

  test("no afterCommit effect runs if the whole batch is rejected", async () => {
    using notes = openNotes();
    const ran: string[] = [];
    const outcomes = await outcomesOf(
      notes.db.write((tx) => tx.afterCommit(() => ran.push("effect"))),
      notes.db.write(() => void notes.sqlite.run("ROLLBACK")),
    );
    expect(outcomes).toEqual(["unavailable", "unavailable"]);
    expect(ran).toEqual([]);
  });

  test("an error of an afterCommit effect is logged, and the change and other effects stand", async () => {
    using notes = openNotes();
    const ran: string[] = [];
    const outcomes = await outcomesOf(
      notes.db.write((tx) => {
        addNote(tx, "a");
        tx.afterCommit(() => {
          throw new Error("the effect failed");
        });
        tx.afterCommit(async () => {
          await Promise.resolve();
          throw new Error("the effect failed later");
        });
        tx.afterCommit(() => ran.push("second"));
      }),
      notes.db.write((tx) => tx.afterCommit(() => ran.push("neighbour's"))),
    );
    await settle();
    expect(outcomes).toEqual(["stored", "stored"]);
    expect(ran).toEqual(["second", "neighbour's"]);
    expect(notesOf(notes.db)).toEqual(["a"]);
    const causes = notes.logged.map((line) => (line["err"] as { message: string }).message);
    expect(causes).toEqual(["the effect failed", "the effect failed later"]);
  });

  test("an afterCommit effect can write in a transaction of its own", async () => {
    using notes = openNotes();
    const later = Promise.withResolvers<void>();
    await notes.db.write((tx) => {
      addNote(tx, "first");
      tx.afterCommit(() => {
        notes.db.write((next) => addNote(next, "second")).then(later.resolve, later.reject);
      });
    });
    await later.promise;
    expect(notesOf(notes.db)).toEqual(["first", "second"]);
  });
});
