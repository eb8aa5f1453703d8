import { describe, expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { migrate, type Migration, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { guardSchema } from "../../src/db/schema-guard";
import { unavailable } from "../../src/base/errors";
import { readPublicAddress } from "../../src/features/settings/settings";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";

const NEXT: Migration = {
  number: SCHEMA_VERSION + 1,
  name: "next",
  sql: "CREATE TABLE next (id INTEGER PRIMARY KEY) STRICT;",
};

/** A database to which another node applies migrations. Each of them is a new version, with a new connection. */
function followed() {
  const clock = createTestClock();
  const { log, lines } = createTestLog("info");
  const open = (migrations: readonly Migration[]) => {
    const sqlite = openSqlite(":memory:", 0);
    migrate(sqlite, undefined, migrations);
    return createDb(sqlite, clock, log);
  };
  let current = open(MIGRATIONS);
  let isReadable = true;
  const db = Object.create(current, {
    statements: {
      get() {
        if (!isReadable) throw unavailable("The database cannot be read now; try again.", 1);
        return current.statements;
      },
    },
  }) as typeof current;
  const guard = guardSchema(db, log);
  return {
    guard,
    messages: () => lines.map(({ msg }) => msg),
    read: () => readPublicAddress(guard.db),
    applied(migrations: readonly Migration[]) {
      current.close();
      current = open(migrations);
    },
    becomes(readable: boolean) {
      isReadable = readable;
    },
    [Symbol.dispose]: () => current.close(),
  };
}

describe("a database that another node migrates", () => {
  test("a migration that this build can read behind is not noticed", () => {
    using at = followed();
    expect(at.read()).toBeUndefined();
    at.applied([...MIGRATIONS, { ...NEXT, readableFrom: SCHEMA_VERSION }]);
    expect(at.read()).toBeUndefined();
    expect([at.guard.problem(), at.guard.version()]).toEqual([undefined, NEXT.number]);
    expect(at.messages()).toEqual([]);
  });

  test("a migration that this build cannot read behind makes statements unavailable until it is undone", () => {
    using at = followed();
    at.applied([...MIGRATIONS, NEXT]);
    expect(at.read).toThrow("Upgrade this replica.");
    expect(at.read).toThrow(expect.objectContaining({ code: "unavailable" }));
    expect(at.guard.problem()).toMatchObject({ version: NEXT.number, outdated: "replica" });
    at.applied(MIGRATIONS);
    expect(at.read()).toBeUndefined();
    expect(at.messages()).toEqual([
      expect.stringContaining("Upgrade this replica."),
      "the schema of the database fits again",
    ]);
  });

  test("a database of an older schema makes statements unavailable until its primary is upgraded", () => {
    using at = followed();
    at.applied(MIGRATIONS.slice(0, -1));
    expect(at.read).toThrow("Upgrade the primary first, then its replicas.");
    at.applied(MIGRATIONS);
    expect(at.read()).toBeUndefined();
  });

  test("a database that cannot be read at the moment has no schema problem", () => {
    using at = followed();
    at.becomes(false);
    expect(at.read).toThrow("cannot be read now");
    expect(at.guard.check).toThrow("cannot be read now");
    expect([at.guard.problem(), at.guard.version()]).toEqual([undefined, undefined]);
    at.becomes(true);
    at.guard.check();
    expect([at.guard.problem(), at.guard.version()]).toEqual([undefined, SCHEMA_VERSION]);
    expect(at.messages()).toEqual([]);
  });

  test("the schema is read once for each connection", () => {
    using at = followed();
    at.read();
    at.applied([...MIGRATIONS, NEXT]);
    expect(at.read).toThrow("Upgrade this replica.");
    expect(at.read).toThrow("Upgrade this replica.");
    expect(at.messages()).toHaveLength(1);
  });
});
