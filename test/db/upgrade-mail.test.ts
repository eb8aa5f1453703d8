import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { findPage } from "../../src/features/pages/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
  INSERT INTO incidents (id, page_id, name, status, impact, source, draft, started_at, resolved_at,
      postmortem_body, postmortem_published_at, version, created_at, updated_at)
    VALUES ('inc_1', 'page_1', 'Down', 'resolved', 'none', 'api', 0, 1, 2, 'Why', 3, 1, 1, 3),
      ('inc_2', 'page_1', 'Down', 'resolved', 'none', 'api', 0, 1, 2, 'Why', NULL, 1, 1, 3);
`;

test("the upgrade keeps all pages, whose settings about e-mail are the default ones, and marks published post-mortems", () => {
  using folder = temporaryFolder();
  using old = openOldDatabase(folder.path, 10, ROWS);
  const before = readAllTables(old.sqlite);
  expect(old.upgrade(11)).toMatchObject({ from: 10, to: 11 });
  const after = readAllTables(old.sqlite);
  expect(after).toMatchObject({
    ...before,
    incidents: (before["incidents"] ?? []).map((row) => ({
      ...row,
      postmortem_first_published_at: row["id"] === "inc_1" ? 3 : null,
    })),
    pages: (before["pages"] ?? []).map((row) => ({ ...row, mail: "{}" })),
  });
  expect(after["subscribers"]).toEqual([]);
  expectSound(old.sqlite);
  old.upgrade();
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  expect(findPage(db, { id: "page_1" })?.mail).toEqual({});
});
