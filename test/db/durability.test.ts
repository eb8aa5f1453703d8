import { expect, test } from "bun:test";
import { join } from "node:path";
import { startChild } from "../support/child";
import { notesOf, openNotes } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

test("kill -9 loses no acknowledged change and leaves none half-written", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "notes.db");
  const acknowledged: string[] = [];
  {
    await using child = startChild("store-notes.ts", path);
    while (acknowledged.length < 50) acknowledged.push(await child.line());
    await child.kill();
  }
  using notes = openNotes(path);
  const found = new Set(notesOf(notes.db));
  expect(acknowledged).toHaveLength(50);
  for (const pair of acknowledged) {
    expect(found).toContain(`${pair} first`);
    expect(found).toContain(`${pair} second`);
  }
  const halves = [...found].filter((note) => note.endsWith("first")).length;
  expect(found.size).toBe(2 * halves);
});
