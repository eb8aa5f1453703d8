/**
 * Writes transactions into a database until it is killed, and prints each number with the time after its commit:
 * `bun write-numbers.ts DATABASE updates|growing|large PER_SECOND`. Each transaction sets all rows, which lie on
 * different pages, to the next number. "growing" also adds rows, "large" changes 4 MB.
 */
import { Database } from "bun:sqlite";
import { writeSync } from "node:fs";
import { APPLICATION_ID } from "../../../src/db/open";

const [, , path = "", kind = "updates", perSecond = "50"] = process.argv;
const sqlite = new Database(path);
sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`);
sqlite.run("PRAGMA journal_mode = WAL");
sqlite.run("PRAGMA busy_timeout = 5000");
sqlite.run("PRAGMA wal_autocheckpoint = 0");
sqlite.run("CREATE TABLE IF NOT EXISTS numbers (id INTEGER PRIMARY KEY, n INTEGER, filler TEXT)");
sqlite.run("CREATE TABLE IF NOT EXISTS added (id INTEGER PRIMARY KEY, n INTEGER, filler TEXT)");
const rows = kind === "large" ? 1_000 : 20;
const filler = "x".repeat(3_900);
const insert = sqlite.prepare("INSERT OR IGNORE INTO numbers VALUES (?, 0, ?)");
sqlite.transaction(() => {
  for (let id = 1; id <= rows; id++) insert.run(id, filler);
})();
const update = sqlite.prepare("UPDATE numbers SET n = ?");
const add = sqlite.prepare("INSERT INTO added (n, filler) VALUES (?, ?)");
const newest = sqlite.prepare<{ n: number }, []>("SELECT max(n) AS n FROM numbers").get()?.n ?? 0;

for (let n = newest + 1; ; n++) {
  const startedAt = performance.now();
  sqlite.transaction(() => {
    update.run(n);
    if (kind === "growing") add.run(n, filler);
  })();
  writeSync(1, `${n} ${Date.now()}\n`);
  await Bun.sleep(Math.max(0, 1_000 / Number(perSecond) - (performance.now() - startedAt)));
}
