import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { findComponent } from "../../src/features/components/store";
import { findMonitor } from "../../src/features/monitors/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
  INSERT INTO components VALUES ('cmp_1', 'page_1', NULL, 'api', 'API', 'For all', 0, 'operational',
    'operational', 1, NULL, 0, 'apply', 4, 1, 2, NULL, 0);
  INSERT INTO monitors (id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, on_down, open_incident, paused, version, created_at, updated_at)
    VALUES ('mon_1', 1, 'shop', 'Shop', 'tcp', '{"host":"a.test","port":80}', 60, 1000, 3, 1, 10,
      'major_outage', 'never', 0, 3, 1, 1);
`;

test("the upgrade keeps all monitors and components and adds no tags", () => {
  using folder = temporaryFolder();
  using old = openOldDatabase(folder.path, 8, ROWS);
  const before = readAllTables(old.sqlite);
  expect(old.upgrade(9)).toMatchObject({ from: 8, to: 9 });
  const tagged = (table: string) => (before[table] ?? []).map((row) => ({ ...row, tags: "[]" }));
  expect(readAllTables(old.sqlite)).toEqual({
    ...before,
    components: tagged("components"),
    monitors: tagged("monitors"),
  });
  expectSound(old.sqlite);
  // The statements read the schema of this build.
  old.upgrade();
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  expect(findComponent(db, { id: "cmp_1" })?.tags).toEqual([]);
  expect(findMonitor(db, { id: "mon_1" })?.tags).toEqual([]);
});
