import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { openDataDirectory, tryLock } from "../../src/db/data-directory";
import { migrate, SCHEMA_VERSION } from "../../src/db/migrations";
import { openSqlite, pragma } from "../../src/db/open";
import { openForCommand, openForServer } from "../../src/installation";
import { testConfig } from "../support/app";
import { startChild } from "../support/child";
import { settle } from "../support/clock";
import { temporaryFolder } from "../support/temporary-folder";

function configFor(folder: { path: string }) {
  return testConfig({ ALLCLEAR_DATA_DIR: folder.path, ALLCLEAR_LOG_LEVEL: "silent" });
}

/** A migrated database, then one migration ahead of this build. */
function makeDatabase(path: string, extraMigrations = 0): void {
  using sqlite = openSqlite(join(path, "allclear.db"), 0);
  migrate(sqlite, undefined);
  for (let number = SCHEMA_VERSION + 1; number <= SCHEMA_VERSION + extraMigrations; number++) {
    sqlite.run(`INSERT INTO schema_migrations VALUES (${number}, 'newer', 'unknown', 0, 0)`);
  }
}

describe("a server", () => {
  test("a server locks its data directory and migrates the database", () => {
    using folder = temporaryFolder();
    const server = openForServer(configFor(folder));
    expect(server.migration).toMatchObject({ from: 0, to: SCHEMA_VERSION });
    expect(tryLock(server.directory, "serve")).toBeUndefined();
    server.close();

    const lock = tryLock(server.directory, "serve");
    expect(lock).toBeDefined();
    lock?.release();
  });

  test("a server never waits in SQLite for another process, and stores the change afterwards", async () => {
    using folder = temporaryFolder();
    const server = openForServer(configFor(folder));
    using other = new Database(server.directory.database);
    const waits: number[] = [];
    for (let round = 0; round < 5; round++) {
      other.run("BEGIN IMMEDIATE");
      const before = performance.now();
      const change = server.ctx.db.write(() => "stored");
      await settle();
      waits.push(performance.now() - before);
      other.run("COMMIT");
      expect(await change).toBe("stored");
    }
    // SQLite would have blocked for the five seconds that a command waits. A busy machine delays some rounds, not all.
    expect(Math.min(...waits)).toBeLessThan(5_000);
    server.close();
  });

  test("a second server is rejected, and the first one is not affected", async () => {
    using folder = temporaryFolder();
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
    const start = () => openForServer(configFor(folder));
    expect(start).toThrow(OperatorError);
    expect(start).toThrow(`in use by process ${child.pid} (allclear serve).`);
  });

  test("a server releases the directory if its database cannot be opened", () => {
    using folder = temporaryFolder();
    makeDatabase(folder.path, 1);
    const start = () => openForServer(configFor(folder));
    expect(start).toThrow(
      `has schema version ${SCHEMA_VERSION + 1}, this Allclear knows ${SCHEMA_VERSION}.`,
    );
    const lock = tryLock(openDataDirectory(folder.path), "serve");
    expect(lock).toBeDefined();
    lock?.release();
  });
});

describe("a command", () => {
  test("a command without a server migrates and locks the directory", () => {
    using folder = temporaryFolder();
    const command = openForCommand(configFor(folder), "key list", { canCreate: true });
    expect(command.migration).toMatchObject({ from: 0, to: SCHEMA_VERSION });
    expect(tryLock(command.directory, "serve")).toBeUndefined();
    command.close();
    openForServer(configFor(folder)).close();
  });

  test("a command works while a server with the same schema runs, and leaves the lock to it", async () => {
    using folder = temporaryFolder();
    makeDatabase(folder.path);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
    const command = openForCommand(configFor(folder), "key list", { canCreate: true });
    expect(command.migration).toBeUndefined();
    expect(command.ctx.db.foreignVersion()).toBeGreaterThan(0);
    command.close();
    expect(tryLock(openDataDirectory(folder.path), "serve")).toBeUndefined();
  });

  test("a command is rejected while a server with another schema runs, naming both versions and the server", async () => {
    using folder = temporaryFolder();
    makeDatabase(folder.path, 1);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
    const run = () => openForCommand(configFor(folder), "key list", { canCreate: true });
    expect(run).toThrow(OperatorError);
    expect(run).toThrow(
      `in use by process ${child.pid} (allclear serve) with schema version ${SCHEMA_VERSION + 1}; this Allclear has version ${SCHEMA_VERSION}.`,
    );
    using sqlite = openSqlite(join(folder.path, "allclear.db"), 0);
    expect(pragma(sqlite, "integrity_check")).toBe("ok");
  });
});
