import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createApp } from "../../src/app";
import { createDb, type Db } from "../../src/db/database";
import { openSqlite } from "../../src/db/open";
import { SCHEMA_VERSION } from "../../src/db/migrations";
import { guardSchema } from "../../src/db/schema-guard";
import { createContext } from "../../src/installation";
import { HOUR_MS } from "../../src/base/time";
import { createTestApp } from "../support/app";
import { temporaryFolder } from "../support/temporary-folder";

/** Two pages, and a second app on their database that must not migrate it. */
async function createReplica() {
  const folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  const primary = await createTestApp({ databasePath });
  await primary.page({ slug: "acme", name: "Acme Page" });
  await primary.page({ slug: "other", name: "Other Page" });
  const authorization = `Bearer ${await primary.keyWith("read:status")}`;
  const { clock, db, log } = primary.ctx;
  // Each version of a followed database has a connection of its own.
  const connections = [createDb(openSqlite(databasePath, 0), clock, log)];
  const followed: Db = Object.create(db, {
    statements: { get: () => connections.at(-1)?.statements },
  });
  const guard = guardSchema(followed, log);
  const app = createApp(createContext({ ...primary.ctx, db: guard.db }));
  return {
    primary,
    async read(path: string) {
      const request = new Request(`http://status.test${path}`, { headers: { authorization } });
      const response = await app.handle(request, () => "203.0.113.7");
      return { status: response.status, text: await response.text() };
    },
    /** Applies a migration behind which this build cannot read. */
    migrate() {
      using sqlite = openSqlite(databasePath, 0);
      const next = SCHEMA_VERSION + 1;
      sqlite.run(`INSERT INTO schema_migrations VALUES (${next}, 'next', 'unknown', 0, ${next})`);
      connections.push(createDb(openSqlite(databasePath, 0), clock, log));
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.close();
      await primary[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe("a replica whose primary was upgraded to a schema that it cannot read", () => {
  test("pages in memory are served, also outdated ones, and everything else is unavailable", async () => {
    await using replica = await createReplica();
    const { read, primary } = replica;
    const before = await read("/status/acme");
    expect(before.text).toContain("Acme Page");
    expect((await read("/api/v1/status/acme")).status).toBe(200);
    replica.migrate();
    for (let hours = 0; hours <= 24; hours += 12) {
      expect(await read("/status/acme")).toEqual(before);
      expect((await read("/api/v1/status/acme")).status).toBe(200);
      await primary.clock.advance(12 * HOUR_MS);
    }
    expect((await read("/status/other")).status).toBe(503);
    expect((await read("/api/v1/incidents")).status).toBe(503);
    expect((await read("/healthz")).status).toBe(200);
  });
});
