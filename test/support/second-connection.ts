import type { Database } from "bun:sqlite";
import type { Ctx } from "../../src/context";
import { createDb } from "../../src/db/database";
import { openSqlite } from "../../src/db/open";
import { createContext } from "../../src/installation";
import { systemRandom } from "../../src/base/hash";
import { settle } from "./clock";
import type { TestApp } from "./app";

/** A second connection to an app's database, like that of a command beside a running server. */
interface AnotherProcess extends AsyncDisposable {
  ctx: Ctx;
  sqlite: Database;
}

/** Opens the database file of a running app with separate signals. */
export function anotherProcess(app: TestApp, databasePath: string): AnotherProcess {
  const { config, log } = app.ctx;
  const sqlite = openSqlite(databasePath, 0);
  const db = createDb(sqlite, app.clock, log);
  const ctx = createContext({ config, db, clock: app.clock, log, random: systemRandom });
  return {
    ctx,
    sqlite,
    async [Symbol.asyncDispose]() {
      await settle();
      db.close();
    },
  };
}
