/**
 * Opens a database's write transaction, says so, and commits it at the next line that it is sent:
 * `bun hold-write-lock.ts FILE`.
 */
import { Database } from "bun:sqlite";

const sqlite = new Database(process.argv[2], { readwrite: true, create: false });
sqlite.run("BEGIN IMMEDIATE");
console.log("held");
for await (const _line of console) {
  sqlite.run("COMMIT");
  console.log("released");
}
