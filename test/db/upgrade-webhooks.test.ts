import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createDb } from "../../src/db";
import { openDataDirectory } from "../../src/db/data-directory";
import { migrate } from "../../src/db/migrate";
import { MIGRATIONS } from "../../src/db/migrations";
import { isSound, openSqlite, pragma } from "../../src/db/open";
import { deliveryHealth, listAllWebhooks } from "../../src/features/webhooks";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";
import { temporaryFolder } from "../support/temporary-folder";

const BEFORE = MIGRATIONS.slice(0, 5);
const AFTER = MIGRATIONS.slice(0, 6);

/** A page with a component, and what happened to it before anybody could be told. */
const HOUSE = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
  INSERT INTO components VALUES ('cmp_1', 'page_1', NULL, 'api', 'API „v1“', 'For all', 0, 'major_outage',
    'operational', 1, '2025-02-28', 0, 'apply', 4, 1, 2, NULL, 1);
  INSERT INTO events VALUES
    ('evt_1', 'component.status_changed', 'page_1', 'cmp_1', '{"a":[1,"é"]}', 30),
    ('evt_2', 'incident.created', 'page_1', 'inc_1', '{}', 31);
  INSERT INTO audit_log VALUES (9, 'key', 'key_1', 'CI', 'component.update', 'cmp_1', 'Set API', NULL, 30);
`;

/** The tables that it brings. */
const BROUGHT = ["deliveries", "delivery_tries", "webhook_hours", "webhooks"];

function openDemoData(path: string) {
  const directory = openDataDirectory(join(path, "data"));
  const sqlite = openSqlite(directory.database, 0);
  migrate(sqlite, directory, BEFORE);
  sqlite.exec(HOUSE);
  /** Every row of every table but the history of migrations, by the name of the table. */
  const readAll = () => {
    const tables = sqlite
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migrations' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all();
    return Object.fromEntries(
      tables.map(({ name }) => [name, sqlite.query(`SELECT * FROM ${name} ORDER BY 1`).values()]),
    );
  };
  return { directory, sqlite, readAll };
}

describe("a database from before webhooks", () => {
  test("the upgrade keeps every row and adds no endpoint or delivery", () => {
    using folder = temporaryFolder();
    const { directory, sqlite, readAll } = openDemoData(folder.path);
    using _ = sqlite;
    const before = readAll();
    expect(before["events"]).toHaveLength(2);

    expect(migrate(sqlite, directory, AFTER)).toMatchObject({ from: 5, to: 6 });
    expect(readAll()).toEqual({
      ...before,
      ...Object.fromEntries(BROUGHT.map((table) => [table, []])),
    });
    expect(isSound(sqlite)).toBe(true);
    expect(pragma(sqlite, "foreign_keys")).toBe(1);
  });

  test("after the upgrade, no delivery is pending for earlier events", () => {
    using folder = temporaryFolder();
    const { directory, sqlite } = openDemoData(folder.path);
    migrate(sqlite, directory, MIGRATIONS);
    const clock = createTestClock();
    const db = createDb(sqlite, clock, createTestLog("info").log);
    expect(listAllWebhooks(db, {})).toEqual([]);
    expect(deliveryHealth(db, clock.now())).toEqual({
      backlogs: [],
      count: 0,
      oldestAt: null,
      isStuck: false,
    });
    db.close();
  });

  test("an upgrade that fails half-way loses nothing and can be repeated", () => {
    using folder = temporaryFolder();
    const { directory, sqlite, readAll } = openDemoData(folder.path);
    using _ = sqlite;
    // What the migration makes last.
    sqlite.run("CREATE TABLE webhook_hours (somebody TEXT, elses TEXT) STRICT");
    const before = readAll();
    expect(() => migrate(sqlite, directory, AFTER)).toThrow("table webhook_hours already exists");
    expect(readAll()).toEqual(before);

    sqlite.run("DROP TABLE webhook_hours");
    expect(migrate(sqlite, directory, AFTER)).toMatchObject({ from: 5, to: 6 });
    expect(readAll()).toMatchObject({ events: before["events"], webhooks: [] });
  });
});
