import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createDb } from "../../src/db";
import { openDataDirectory } from "../../src/db/data-directory";
import { migrate } from "../../src/db/migrate";
import { MIGRATIONS } from "../../src/db/migrations";
import { isSound, openSqlite, pragma } from "../../src/db/open";
import { findComponent } from "../../src/features/components";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";
import { temporaryFolder } from "../support/temporary-folder";

const BEFORE = MIGRATIONS.slice(0, 4);
const AFTER = MIGRATIONS.slice(0, 5);

/** A page with components, one of which is gone, with what marked them and what was logged. */
const HOUSE = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
  INSERT INTO components VALUES
    ('cmp_1', 'page_1', NULL, 'api', 'API „v1“', 'For all', 0, 'major_outage', 'operational', 1,
      '2025-02-28', 0, 'apply', 4, 1, 2, NULL),
    ('cmp_2', 'page_1', NULL, 'old', 'Old', NULL, 1, 'operational', 'operational', 0, NULL, 1, NULL, 1, 1, 2, 9);
  INSERT INTO component_causes VALUES (1, 'cmp_1', 'incident', 'inc_1', 'major_outage', 5, NULL);
  INSERT INTO incidents VALUES ('inc_1', 'page_1', 'Errors', 'investigating', 'major', NULL, 'api', 0, NULL,
    5, NULL, NULL, NULL, NULL, NULL, 1, 5, 5, NULL);
`;

/** The tables that it brings. */
const BROUGHT = [
  "component_no_data",
  "liveness",
  "monitor_checks",
  "monitor_components",
  "monitor_incidents",
  "monitor_rollups",
  "monitor_spans",
  "monitor_states",
  "monitors",
];

function openDemoData(path: string) {
  const directory = openDataDirectory(join(path, "data"));
  const sqlite = openSqlite(directory.database, 0);
  migrate(sqlite, directory, BEFORE);
  sqlite.exec(HOUSE);
  const read = (table: string) =>
    sqlite.query<Record<string, unknown>, []>(`SELECT * FROM ${table} ORDER BY 1`).all();
  const tables = () =>
    sqlite
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all()
      .map(({ name }) => name);
  return { directory, sqlite, read, tables };
}

describe("a database from before monitors", () => {
  test("the upgrade keeps all rows and adds no monitors or response times", () => {
    using folder = temporaryFolder();
    const { directory, sqlite, read, tables } = openDemoData(folder.path);
    using _ = sqlite;
    const others = tables().filter((name) => name !== "components" && !/migration/.test(name));
    expect(others).toContain("component_causes");
    const before = { components: read("components"), others: others.map(read), tables: tables() };

    expect(migrate(sqlite, directory, AFTER)).toMatchObject({ from: 4, to: 5 });
    expect(read("components")).toEqual(
      before.components.map((row) => ({ ...row, show_latency: 0 })),
    );
    expect(others.map(read)).toEqual(before.others);
    expect(tables().filter((name) => !before.tables.includes(name))).toEqual(BROUGHT);
    expect(BROUGHT.map((name) => read(name).length)).toEqual(BROUGHT.map(() => 0));
    expect(isSound(sqlite)).toBe(true);
    expect(pragma(sqlite, "foreign_keys")).toBe(1);
    expect(pragma(sqlite, "foreign_key_check")).toBeFalsy();
  });

  test("after the upgrade, components show no response time", () => {
    using folder = temporaryFolder();
    const { directory, sqlite } = openDemoData(folder.path);
    migrate(sqlite, directory, MIGRATIONS);
    const db = createDb(sqlite, createTestClock(), createTestLog("info").log);
    expect(findComponent(db, { id: "cmp_1" })).toMatchObject({
      name: "API „v1“",
      status: "major_outage",
      startDate: "2025-02-28",
      showLatency: false,
      version: 4,
    });
    db.close();
  });
});
