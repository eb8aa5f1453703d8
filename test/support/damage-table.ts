import { Database } from "bun:sqlite";
import { closeSync, openSync, writeSync } from "node:fs";

/** Overwrites the first page of a table with garbage, in a database that a server has open. */
export function damageTable(path: string, table: string): void {
  const other = new Database(path);
  const { page_size: size } = other.query("PRAGMA page_size").get() as { page_size: number };
  const root = other
    .query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .get(table)?.rootpage;
  if (root === undefined) throw new Error(`there is no table ${table}`);
  // A commit empties the page caches of other connections. What is in the log would hide the damage.
  other.run("PRAGMA user_version = 0");
  other.run("PRAGMA wal_checkpoint(TRUNCATE)");
  other.close(true);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(size, 0xee), 0, size, (root - 1) * size);
  closeSync(file);
}
