import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { editSoundDatabase } from "../../src/db/copies";
import { committedNotes, makeDatabase } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

const addNote = (sqlite: Database) => void sqlite.run("INSERT INTO notes VALUES ('edited')");

describe("editing a database that is not in use", () => {
  test("an edit of an unused database is stored in the one file", () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "copy.db");
    makeDatabase(file);
    editSoundDatabase(file, "The copy", addNote);
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(committedNotes(file)).toEqual(["edited"]);
  });

  test("an error of an edit is passed on and not reported as damage", () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "copy.db");
    makeDatabase(file);
    const edit = () =>
      editSoundDatabase(file, "The copy", (sqlite) => void sqlite.run("DELETE FROM no_table"));
    expect(edit).toThrow("no such table: no_table");
    expect(edit).not.toThrow(OperatorError);
    // The file can still be used.
    editSoundDatabase(file, "The copy", addNote);
  });

  test("a file that is no database of Allclear is rejected without the edit", () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "copy.db");
    writeFileSync(file, "text ".repeat(1_000));
    let edits = 0;
    const edit = () => editSoundDatabase(file, "The copy", () => void (edits += 1));
    expect(edit).toThrow("The copy is not an Allclear database, or it is damaged.");
    expect(edit).toThrow(OperatorError);
    expect(edits).toBe(0);
  });
});
