import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { MIGRATIONS } from "../../src/db/migrations";
import { listAllTemplates } from "../../src/features/incident-templates/templates";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
`;

test("the upgrade keeps all rows and adds no incident templates", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "incident_templates");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    ...emptyTables(["incident_templates", "incident_template_components"]),
  });
  expectSound(old.sqlite);
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  expect(listAllTemplates(db)).toEqual([]);
});
