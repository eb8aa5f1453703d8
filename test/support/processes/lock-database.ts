/** Holds an exclusive lock on a database until it is killed, and prints "locked": `bun lock-database.ts DATABASE`. */
import { Database } from "bun:sqlite";

const [, , path = ""] = process.argv;
const sqlite = new Database(path, { create: false, readwrite: true });
sqlite.run("PRAGMA busy_timeout = 5000");
sqlite.run("BEGIN EXCLUSIVE");
console.log("locked");
for await (const _line of console) sqlite.run("PRAGMA user_version");
