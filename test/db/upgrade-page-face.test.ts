import { describe, expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { findPage } from "../../src/features/pages/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

/** Two pages, one of which is deleted, with slugs, a component and an incident. */
const ROWS = `
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
    using old = openOldDatabase(folder.path, 3, ROWS);
    const before = readAllTables(old.sqlite);
    expect(before["incidents"]).toHaveLength(1);

    expect(old.upgrade(4)).toMatchObject({ from: 3, to: 4 });
    const added = { custom_domains: "[]", logo: null };
    expect(readAllTables(old.sqlite)).toEqual({
      ...before,
      pages: (before["pages"] ?? []).map((row) => ({ ...row, ...added })),
      page_logos: [],
    });
    expectSound(old.sqlite);
  });

  test("after the upgrade, pages have neither domain nor logo", () => {
    using folder = temporaryFolder();
    const { sqlite, upgrade } = openOldDatabase(folder.path, 3, ROWS);
    upgrade();
    const db = createDb(sqlite, createTestClock(), createTestLog("info").log);
    expect(findPage(db, { id: "page_1" })).toMatchObject({
      name: "Acme „GmbH“",
      customDomains: [],
      logo: null,
    });
    db.close();
  });
});
