/**
 * Upgrades a database by two migrations, of which the last never ends, until it is killed:
 * `bun endless-upgrade.ts DIRECTORY SQL_OF_THE_FIRST_MIGRATION`. Prints "filled" once the first of the
 * two has written more than SQLite holds in memory.
 */
import { writeSync } from "node:fs";
import { openDataDirectory } from "../../../src/db/data-directory";
import { migrate } from "../../../src/db/migrations";
import { openSqlite } from "../../../src/db/open";

const [, , path = "", sql = ""] = process.argv;
const directory = openDataDirectory(path);
const sqlite = openSqlite(directory.database, 0);
const insertNumbers = (condition: string) => `
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers ${condition})
  INSERT INTO parents SELECT 'number ' || n, printf('%.1000c', 'x') FROM numbers;`;
migrate(sqlite, directory, [
  { number: 1, name: "parents", sql },
  { number: 2, name: "filling", sql: insertNumbers("WHERE n < 5000") },
  {
    number: 3,
    name: "endless",
    // Read when the migration is applied, inside the transaction of both.
    get sql() {
      writeSync(1, "filled\n");
      return "WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT 1 FROM endless) SELECT max(n) FROM endless;";
    },
  },
]);
