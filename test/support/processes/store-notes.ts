/**
 * Stores pairs of notes, each in one transaction, and prints the number of each pair once it is
 * acknowledged, until it is killed: `bun store-notes.ts FILE`.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/base/clock";
import { addNote, openNotes } from "../database";

const notes = openNotes(process.argv[2], systemClock());
for (let pair = 1; ; pair++) {
  await notes.db.write((tx) => {
    addNote(tx, `${pair} first`);
    addNote(tx, `${pair} second`);
  });
  writeSync(1, `${pair}\n`);
}
