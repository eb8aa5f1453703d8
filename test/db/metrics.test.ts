import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { addNote, openNotes } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

describe("the metrics of a database", () => {
  test("the metrics of a database contain its size, its log's size, transactions and changes", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    const { db } = notes;
    const before = db.figures();
    expect(before).toMatchObject({ batches: 0, changes: 0, rejected: 0, waiting: 0 });
    const writes = ["a", "b", "c"].map((text) => db.write((tx) => addNote(tx, text)));
    expect(db.figures().waiting).toBe(3);
    await Promise.all(writes);
    await db.write((tx) => addNote(tx, "d"));
    const rejection = db.write(() => {
      throw new Error("no");
    });
    await expect(rejection).rejects.toThrow("no");
    const after = db.figures();
    expect(after).toMatchObject({ batches: 3, changes: 4, rejected: 0, waiting: 0 });
    expect(after.walBytes).toBe(statSync(`${path}-wal`).size);
    expect(after.walBytes).toBeGreaterThan(0);
    notes.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(db.figures().sizeBytes).toBe(statSync(path).size);
    expect(db.figures().walBytes).toBe(0);
  });

  test("the metrics of a database count rejected changes", async () => {
    using folder = temporaryFolder();
    using notes = openNotes(join(folder.path, "notes.db"));
    const { db, sqlite } = notes;
    const pages = db.figures().sizeBytes / 4_096;
    sqlite.run(`PRAGMA max_page_count = ${pages}`);
    const writes = ["a", "b"].map((text) => db.write((tx) => addNote(tx, text.repeat(100_000))));
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(db.figures()).toMatchObject({ batches: 0, changes: 0, rejected: 2 });
  });
});
