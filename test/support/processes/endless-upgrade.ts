/**
 * Upgrades a database by a migration that never ends, until it is killed:
 * `bun endless-upgrade.ts DIRECTORY SQL_OF_THE_FIRST_MIGRATION`.
 */
import { openDataDirectory } from "../../../src/db/data-directory";
import { migrate } from "../../../src/db/migrate";
import { openSqlite } from "../../../src/db/open";

const [, , path = "", sql = ""] = process.argv;
const directory = openDataDirectory(path);
const sqlite = openSqlite(directory.database, 0);
console.log("upgrading");
migrate(sqlite, directory, [
  { number: 1, name: "parents", sql },
  {
    number: 2,
    name: "endless",
    sql: `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
      INSERT INTO parents SELECT 'endless ' || n, 'endless' FROM numbers;`,
  },
]);
