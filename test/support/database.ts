import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { asc } from "drizzle-orm";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createDb, type Db } from "../../src/db/database";
import { insertInto, type Reader, selectMany, type Tx } from "../../src/db/statements";
import { migrate } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { Problem } from "../../src/base/errors";
import type { Clock } from "../../src/base/clock";
import { createTestClock } from "./clock";
import { createTestLog, type LogLine } from "./log";

/** The table that tests of the writer use. */
export const notes = sqliteTable("notes", { text: text().primaryKey() });

export const NOTES_SQL = "CREATE TABLE IF NOT EXISTS notes (text TEXT PRIMARY KEY) STRICT";

const insertNote = insertInto(notes);
const listNotes = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(notes).orderBy(asc(notes.text)),
);

export function addNote(tx: Tx, note: string): void {
  insertNote(tx, { text: note });
}

export function notesOf(reader: Reader): string[] {
  return listNotes(reader, {}).map((row) => row.text);
}

/** A database with the table of notes, its writer's connection and its log. */
export interface NotesDatabase extends Disposable {
  db: Db;
  sqlite: Database;
  logged: LogLine[];
}

/**
 * Opens the database like a server, without waiting in SQLite; in memory unless a path is given.
 */
export function openNotes(path = ":memory:", clock: Clock = createTestClock()): NotesDatabase {
  const sqlite = openSqlite(path, 0);
  sqlite.run(NOTES_SQL);
  const { log, lines } = createTestLog("info");
  const db = createDb(sqlite, clock, log);
  return { db, sqlite, logged: lines, [Symbol.dispose]: () => db.close() };
}

/** Creates a migrated database in a file, with these notes. */
export function makeDatabase(path: string, ...texts: string[]): void {
  using sqlite = openSqlite(path, 0);
  migrate(sqlite, undefined);
  sqlite.run(NOTES_SQL);
  for (const note of texts) sqlite.run("INSERT INTO notes VALUES (?)", [note]);
}

/** Reads the committed notes through another connection. */
export function committedNotes(path: string): string[] {
  using reader = new Database(path, { readonly: true });
  const rows = reader.query<{ text: string }, []>("SELECT text FROM notes ORDER BY text").all();
  return rows.map((row) => row.text);
}

/**
 * Returns the outcome of each change in their order: "stored", the code of the Problem, or the
 * message of another error.
 */
export async function outcomesOf(...changes: Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(changes);
  return settled.map((outcome) => {
    if (outcome.status === "fulfilled") return "stored";
    const reason: unknown = outcome.reason;
    return reason instanceof Problem ? reason.code : (reason as Error).message;
  });
}

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Counts the transactions committed to a database's write-ahead log since it was started. Only the
 * last frame of a transaction carries the size of the database.
 */
export function committedTransactions(path: string): number {
  const wal = readFileSync(`${path}-wal`);
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salt = wal.toString("hex", 16, 24);
  let count = 0;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const isCurrent = wal.toString("hex", at + 8, at + 16) === salt;
    if (isCurrent && wal.readUInt32BE(at + 4) > 0) count += 1;
  }
  return count;
}
