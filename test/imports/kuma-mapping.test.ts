import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { MONITOR_TYPES } from "../../src/imports/uptime-kuma/types";
import { NOTIFICATION_TYPES } from "../../src/imports/uptime-kuma/notifications";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { type Mapping, SETTINGS, TABLES } from "../../src/imports/uptime-kuma/tables";
import { KUMA_VERSIONS, kumaFolder } from "../support/kuma-fixture";

/** All mappings by their names in documentation. */
const MAPPINGS: readonly [name: string, mapping: Mapping][] = [
  ...Object.entries(MONITOR_TYPES),
  ...Object.entries(NOTIFICATION_TYPES),
  ...Object.entries(SETTINGS),
  ...Object.entries(TABLES).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, mapping]): [string, Mapping] => [
      `${table}.${column}`,
      mapping,
    ]),
  ),
];

/** Columns of a fixture, by table. */
function columnsOf(path: string): string[] {
  using sqlite = new Database(path, { readonly: true });
  return sqlite
    .prepare<{ name: string }, []>(
      `SELECT tables.name || '.' || columns.name AS name
       FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all()
    .map(({ name }) => name);
}

describe("the tables of the importer from Uptime Kuma", () => {
  test("have each column of the supported versions, and no other", () => {
    const named = new Set(
      Object.entries(TABLES).flatMap(([table, columns]) =>
        Object.keys(columns).map((column) => `${table}.${column}`),
      ),
    );
    const known = new Set<string>();
    for (const version of KUMA_VERSIONS) {
      using folder = kumaFolder(version);
      for (const column of columnsOf(folder.database)) known.add(column);
    }
    expect([...known].filter((column) => !named.has(column))).toEqual([]);
    expect([...named].filter((column) => !known.has(column))).toEqual([]);
  });

  test("say what becomes of each entry, in whole sentences", () => {
    const empty = MAPPINGS.filter(([, { to, rule }]) => to === null && rule === "");
    expect(empty.map(([name]) => name)).toEqual([]);
    const unfinished = MAPPINGS.filter(
      ([, { rule }]) => rule !== "" && !/^[A-Z0-9`].*\.$/.test(rule),
    );
    expect(unfinished.map(([name, { rule }]) => [name, rule])).toEqual([]);
  });
});

test("tables, columns and types that a newer Uptime Kuma adds are named as not read", async () => {
  using folder = kumaFolder("2.5.3");
  {
    using sqlite = new Database(folder.database);
    sqlite.run("ALTER TABLE monitor ADD COLUMN new_column TEXT");
    sqlite.run("ALTER TABLE status_page ADD COLUMN new_setting TEXT");
    sqlite.run("CREATE TABLE new_table (id INTEGER)");
    sqlite.run("UPDATE monitor SET type = 'newer' WHERE name = 'Site'");
  }
  const { notRead, monitors } = await readUptimeKuma(folder.path);
  expect(notRead).toEqual([
    "monitor.new_column",
    "status_page.new_setting",
    "table new_table",
    "monitor type newer",
    "monitor type of-the-future",
  ]);
  expect(monitors.find(({ body }) => body.name === "Site")?.held).toContain("newer");
});
