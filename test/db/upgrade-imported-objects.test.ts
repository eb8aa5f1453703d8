import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { MIGRATIONS } from "../../src/db/migrations";
import { listUpcomingOfSchedule } from "../../src/features/maintenance/schedules/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL, '{}', '[]');
  INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase,
    only_show_if_degraded, version, created_at, updated_at)
  VALUES ('cmp_1', 'page_1', 'api', 'API', 0, 'operational', 'operational', 1, 0, 1, 1, 1);
  INSERT INTO maintenance_schedules VALUES ('msc_1', 'backup', 'page_1', 'Backup', 'Read-only', '0 2 * * *', NULL,
    60, 'UTC', NULL, '2027-01-01', 60, 1, 9000, 'apply', 4, 1, 2);
  INSERT INTO maintenance_schedule_components VALUES ('msc_1', 'cmp_1');
  INSERT INTO maintenances VALUES ('mnt_1', 'page_1', 'Backup', 'scheduled', 7200000, 10800000, NULL, NULL, 1,
    1, 60, NULL, 1, 1, 1, NULL, 'msc_1', 7200000);
  INSERT INTO import_sources VALUES ('src_1', 'healthchecks', 'default', NULL, 1);
  INSERT INTO import_refs VALUES ('src_1', 'check', 'a', 'monitor', 'mon_1', 5, x'00', NULL);
`;

test("the upgrade keeps schedules with their components and occurrences, and what became of imports", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "imported_objects");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    import_refs: (tables["import_refs"] ?? []).map(({ version, ...row }) => ({
      ...row,
      mark: version,
    })),
  });
  expectSound(old.sqlite);
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  const upcoming = listUpcomingOfSchedule(db, { scheduleId: "msc_1", now: 0, limit: 5 });
  expect(upcoming.map(({ id }) => id)).toEqual(["mnt_1"]);
  old.sqlite.run("UPDATE maintenance_schedules SET managed_by = 'import'");
  old.sqlite.run("DELETE FROM maintenance_schedules");
  expect(old.rows("SELECT schedule_id FROM maintenances")).toEqual([{ schedule_id: null }]);
  expect(old.rows("SELECT * FROM maintenance_schedule_components")).toEqual([]);
});
