import { expect, test } from "bun:test";
import { createDb } from "../../src/db";
import { findPage } from "../../src/features/pages";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
`;

test("the upgrade keeps all pages, whose settings about e-mail are the default ones", () => {
  using folder = temporaryFolder();
  using old = openOldDatabase(folder.path, 10, ROWS);
  const before = readAllTables(old.sqlite);
  expect(old.upgrade(11)).toMatchObject({ from: 10, to: 11 });
  const after = readAllTables(old.sqlite);
  expect(after).toMatchObject({
    ...before,
    pages: (before["pages"] ?? []).map((row) => ({ ...row, mail: "{}" })),
  });
  expect(after["subscribers"]).toEqual([]);
  expectSound(old.sqlite);
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  expect(findPage(db, { id: "page_1" })?.mail).toEqual({});
});
