import { Database } from "bun:sqlite";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { formatTxid, prepareFollowed, txidFileOf } from "../../src/db/followed-database";
import { APPLICATION_ID, closeSqlite } from "../../src/db/open";
import { TEST_START } from "./clock";

/** Rows of a database that `createFile` has made. */
export const listNumbers = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ n: sql<number>`n` }).from(sql`numbers`),
);

/** Creates a database in WAL mode with one table of numbers. */
export function createFile(path: string, numbers: readonly number[]): void {
  const sqlite = new Database(path);
  sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("CREATE TABLE numbers (n INTEGER)");
  for (const n of numbers) sqlite.run("INSERT INTO numbers VALUES (?)", [n]);
  closeSqlite(sqlite);
}

/** A database that the test writes past SQLite, as a follower does, with times that it sets. */
export function followedFile(folder: string, name = "replica.db") {
  const path = join(folder, name);
  let txid = 1;
  const at = (file: string, ms: number) => utimesSync(file, ms / 1_000, ms / 1_000);
  const versions = new Map<number, Buffer>();
  /** Returns the bytes of a database with a number, which differ between numbers by that alone. */
  const bytesWith = (n: number): Buffer => {
    const known = versions.get(n);
    if (known) return known;
    const made = join(folder, `made-${n}`);
    createFile(made, [n]);
    prepareFollowed(made, 1);
    const bytes = readFileSync(made);
    versions.set(n, bytes);
    return bytes;
  };
  return {
    path,
    /** Writes pages, without a note of the transaction. */
    apply(n: number, time = TEST_START - 1_000) {
      writeFileSync(path, bytesWith(n));
      at(path, time);
    },
    /** Notes the next transaction. */
    note(time = TEST_START - 1_000) {
      writeFileSync(txidFileOf(path), `${formatTxid(txid++)}\n`);
      at(txidFileOf(path), time);
    },
  };
}
