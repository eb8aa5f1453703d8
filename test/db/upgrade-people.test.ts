import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readAllTables } from "../support/database-dump";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const NEW_TABLES = ["form_submissions", "one_time_links", "sessions", "settings", "users"];

/** Rows of an installation after a day of use, for every table of the first schema. */
const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme „GmbH“', NULL, 'Europe/Vienna', 'de',
    'public', 'system', '#0a7', 90, 1, 0, 'apply', 7, 1773144000123, 3, 1773144000000, 1773144000123, NULL);
  INSERT INTO pages VALUES ('page_2', 'gone', 'gone', 'Gone', 'It was', 'UTC', 'en',
    'private', 'dark', NULL, 365, 0, 1, NULL, 1, 1, 1, 1, 1, 1773144000999);
  INSERT INTO page_slugs VALUES ('acme', 'page_1', 1), ('old-acme', 'page_1', 0), ('gone', 'page_2', 1);
  INSERT INTO component_groups VALUES ('grp_1', 'page_1', 'core', 'Core', NULL, 0,
    'collapsed_unless_incident', NULL, 2, 1, 2, NULL);
  INSERT INTO components VALUES
    ('cmp_1', 'page_1', 'grp_1', 'api', 'API', NULL, 0, 'major_outage', 'operational', 1, '2026-01-31', 0, NULL, 4, 1, 2, NULL),
    ('cmp_2', 'page_1', NULL, 'site', 'Website', 'The shop', 1, 'operational', 'operational', 0, NULL, 1, 'apply', 1, 1, 1, NULL);
  INSERT INTO component_causes VALUES
    (1, 'cmp_1', 'api', 'key_1', 'partial_outage', 10, 20),
    (2, 'cmp_1', 'manual', '', 'major_outage', 30, NULL);
  INSERT INTO component_changes VALUES
    (5, 'cmp_1', 'operational', 'major_outage', 'api', 'a cable', 'key', 'key_1', 'CI', 30);
  INSERT INTO api_keys VALUES
    ('key_1', 'CI', '["read:status","write:components"]', 1000, NULL, NULL, 2, 1, 'cli', NULL, 'Command line'),
    ('key_2', 'revoked', '["read:status"]', 1000000, 99, 98, 1, 1, 'system', NULL, 'Allclear');
  INSERT INTO api_key_values VALUES
    (x'${"01".repeat(32)}', 'key_1', 'allclear_ab12', 1, NULL, 1773144000123, '203.0.113.7'),
    (x'${"02".repeat(32)}', 'key_1', 'allclear_cd34', 0, 50, NULL, NULL),
    (x'${"03".repeat(32)}', 'key_2', 'allclear_ef56', 1, NULL, NULL, NULL);
  INSERT INTO api_key_hours VALUES ('key_1', 0, 3, 2, 1), ('key_1', 3600000, 5, 0, 0);
  INSERT INTO events VALUES ('evt_1', 'component.status_changed', 'page_1', 'cmp_1', '{"a":[1,"é"]}', 30);
  INSERT INTO audit_log VALUES
    (1, 'cli', NULL, 'Command line', 'key.create', 'key_1', 'Created the key “CI”', NULL, 1),
    (9, 'key', 'key_1', 'CI', 'component.update', 'cmp_1', 'Set API', '203.0.113.7', 30);
`;

describe("a database of the first schema", () => {
  test("the upgrade keeps every row and adds no user", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 1, ROWS);
    const { sqlite, upgrade } = old;
    const before = readAllTables(sqlite);
    expect(Object.keys(before)).toHaveLength(11);
    for (const [table, rows] of Object.entries(before)) expect(rows, table).not.toEqual([]);

    const report = upgrade(2);
    expect(report).toMatchObject({ from: 1, to: 2 });
    expect(readAllTables(sqlite)).toEqual({ ...before, ...emptyTables(NEW_TABLES) });
    expectSound(sqlite);

    using copy = new Database(report.copy ?? "", { readonly: true });
    expect(readAllTables(copy)).toEqual(before);
  });

  test("an upgrade that fails half-way loses nothing and can be repeated", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 1, ROWS);
    const { sqlite, upgrade } = old;
    sqlite.run("CREATE TABLE settings (somebody TEXT, elses TEXT) STRICT");
    const before = readAllTables(sqlite);
    expect(() => upgrade(2)).toThrow(
      "failed and was rolled back. Migration 2 (people): table settings already exists",
    );
    expect(readAllTables(sqlite)).toEqual(before);

    sqlite.run("DROP TABLE settings");
    expect(upgrade(2)).toMatchObject({ from: 1, to: 2 });
    expect(readAllTables(sqlite)).toMatchObject({ api_keys: before["api_keys"], users: [] });
  });
});
