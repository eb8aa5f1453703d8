import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createDb } from "../../src/db";
import { openDataDirectory } from "../../src/db/data-directory";
import { migrate } from "../../src/db/migrate";
import { MIGRATIONS } from "../../src/db/migrations";
import { isSound, openSqlite, pragma } from "../../src/db/open";
import { findPage } from "../../src/features/pages";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";
import { temporaryFolder } from "../support/temporary-folder";

const BEFORE = MIGRATIONS.slice(0, 3);
const AFTER = MIGRATIONS.slice(0, 4);

/** Two pages, one of which is gone, and what hangs on them. */
const PAGES = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme „GmbH“', NULL, 'Europe/Vienna', 'de',
    'public', 'system', '#0a7', 90, 1, 0, 'apply', 7, 1773144000123, 3, 1773144000000, 1773144000123, NULL);
  INSERT INTO pages VALUES ('page_2', 'gone', 'gone', 'Gone', 'It was', 'UTC', 'en',
    'private', 'dark', NULL, 365, 0, 0, NULL, 1, 1, 1, 1, 1, 1773144000999);
  INSERT INTO page_slugs VALUES ('acme', 'page_1', 1), ('old-acme', 'page_1', 0);
  INSERT INTO components VALUES
    ('cmp_1', 'page_1', NULL, 'api', 'API', NULL, 0, 'operational', 'operational', 1, NULL, 0, NULL, 1, 1, 2, NULL);
  INSERT INTO incidents VALUES ('inc_1', 'page_1', 'Errors', 'investigating', 'none', NULL, 'api', 0, NULL,
    5, NULL, NULL, NULL, NULL, NULL, 1, 5, 5, NULL);
`;

describe("a database from before domains and logos", () => {
  test("the upgrade keeps every page and adds no domain or logo", () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(join(folder.path, "data"));
    using sqlite = openSqlite(directory.database, 0);
    migrate(sqlite, directory, BEFORE);
    sqlite.exec(PAGES);
    const read = (table: string) =>
      sqlite.query<Record<string, unknown>, []>(`SELECT * FROM ${table} ORDER BY 1`).all();
    const others = ["page_slugs", "components", "incidents"];
    const before = { pages: read("pages"), others: others.map(read) };

    expect(migrate(sqlite, directory, AFTER)).toMatchObject({ from: 3, to: 4 });
    const faceless = { custom_domains: "[]", logo: null };
    expect(read("pages")).toEqual(before.pages.map((row) => ({ ...row, ...faceless })));
    expect(others.map(read)).toEqual(before.others);
    expect(read("page_logos")).toEqual([]);
    expect(isSound(sqlite)).toBe(true);
    expect(pragma(sqlite, "foreign_keys")).toBe(1);
    expect(pragma(sqlite, "foreign_key_check")).toBeFalsy();
  });

  test("after the upgrade, pages have neither domain nor logo", () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(join(folder.path, "data"));
    using sqlite = openSqlite(directory.database, 0);
    migrate(sqlite, directory, BEFORE);
    sqlite.exec(PAGES);
    migrate(sqlite, directory, MIGRATIONS);
    const db = createDb(sqlite, createTestClock(), createTestLog("info").log);
    expect(findPage(db, { id: "page_1" })).toMatchObject({
      name: "Acme „GmbH“",
      customDomains: [],
      logo: null,
    });
    db.close();
  });
});
