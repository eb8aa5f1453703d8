import { join } from "node:path";
import type { Ctx } from "../../../src/context";
import { createDb } from "../../../src/db/database";
import { COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../../../src/db/open";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createContext } from "../../../src/installation";
import { systemClock } from "../../../src/base/clock";
import { systemRandom } from "../../../src/base/hash";
import { testConfig } from "../app";
import { createTestLog } from "../log";
import type { FleetNode } from "./nodes";
import { createKey } from "../examined";

/** Database of a running primary, open for changes as in a command such as `key revoke`. */
export interface Command extends Disposable {
  ctx: Ctx;
  /** Creates a key that reads the status. */
  createKey(rateLimit?: number): Promise<{ id: string; value: string }>;
}

export function openCommand(primary: FleetNode): Command {
  const { log } = createTestLog("silent");
  const sqlite = openSqlite(join(primary.folder, "allclear.db"), COMMAND_BUSY_TIMEOUT_MS);
  const clock = systemClock();
  const db = createDb(sqlite, clock, log);
  const ctx = createContext({ config: testConfig(), db, clock, log, random: systemRandom });
  return {
    ctx,
    async createKey(rateLimit = 1_000_000) {
      const input = {
        name: "test",
        scopes: ["read:status" as const, "read:analytics" as const],
        rate_limit: rateLimit,
      };
      const { key, value } = await db.write((tx) => createKey(ctx, tx, input, CLI_ACTOR));
      return { id: key.id, value };
    },
    [Symbol.dispose]: () => sqlite.close(),
  };
}
