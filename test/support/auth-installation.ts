import type { Database } from "bun:sqlite";
import { loadConfig } from "../../src/base/config/load";
import type { Ctx } from "../../src/context";
import { createDb } from "../../src/db/database";
import { insertInto } from "../../src/db/statements";
import { migrate } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { users } from "../../src/db/tables/users";
import { startSession } from "../../src/features/auth/sessions";
import { createContext } from "../../src/installation";
import type { ClientAddress } from "../../src/base/client-address";
import { systemRandom } from "../../src/base/hash";
import { createTestClock, settle, type TestClock } from "./clock";
import { createTestLog, type LogLine } from "./log";

/** A migrated database with a context but without a gateway, and its connection. */
export interface AuthInstallation extends AsyncDisposable {
  ctx: Ctx;
  clock: TestClock;
  sqlite: Database;
  logged: LogLine[];
  /** Adds a user with this id and default values for all other fields. */
  addUser(id: string, row?: Partial<typeof users.$inferInsert>): Promise<void>;
  /** Starts a session and returns its token. */
  start(userId: string, from?: Partial<{ ip: string; userAgent: string }>): Promise<string>;
}

const insertUser = insertInto(users);

/** Opens an installation, in memory unless a path is given. */
export function openAuthInstallation(path = ":memory:"): AuthInstallation {
  const clock = createTestClock();
  const { log, lines: logged } = createTestLog("trace");
  const sqlite = openSqlite(path, 0);
  migrate(sqlite, undefined);
  const db = createDb(sqlite, clock, log);
  const loaded = loadConfig({}, {});
  if ("problems" in loaded) throw new Error(loaded.problems.join("\n"));
  const ctx = createContext({ config: loaded.config, db, clock, log, random: systemRandom });
  return {
    ctx,
    clock,
    sqlite,
    logged,
    addUser: (id, row = {}) =>
      db.write((tx) => {
        const at = { createdAt: clock.now(), updatedAt: clock.now() };
        const plain = { email: `${id}@acme.test`, name: id, role: "editor", version: 1 } as const;
        insertUser(tx, { id, warnsOfKeys: true, timeZone: "UTC", ...plain, ...at, ...row });
      }),
    start: (userId, from = {}) =>
      db.write((tx) =>
        startSession(ctx, tx, userId, { ip: "203.0.113.7", userAgent: "Firefox", ...from }),
      ),
    async [Symbol.asyncDispose]() {
      await settle();
      db.close();
    },
  };
}

/** An IPv4 client, which is its own network. */
export function client(ip: string): ClientAddress {
  return { ip, network: ip };
}

/** Counts the rows of a table. */
export function countRows(
  sqlite: Database,
  table: "sessions" | "one_time_links" | "sign_in_steps",
): number {
  return sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
}
