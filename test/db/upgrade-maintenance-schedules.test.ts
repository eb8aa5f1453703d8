import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { MIGRATIONS } from "../../src/db/migrations";
import { listMaintenance } from "../../src/features/maintenance/records";
import { listSchedules } from "../../src/features/maintenance/schedules/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL, '{}');
  INSERT INTO maintenances VALUES ('mnt_1', 'page_1', 'Upgrade', 'scheduled', 10, 20, NULL, NULL, 1,
    1, 60, NULL, 1, 1, 1, NULL);
`;

test("the upgrade keeps all maintenance, without schedules", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "maintenance_schedules");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    maintenances: (tables["maintenances"] ?? []).map((row) => ({
      ...row,
      schedule_id: null,
      occurrence_at: null,
    })),
    ...emptyTables(["maintenance_schedules", "maintenance_schedule_components"]),
  });
  expectSound(old.sqlite);
  old.upgrade();
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  expect(listSchedules(db)).toEqual([]);
  expect(listMaintenance(db, { limit: 10 }).map(({ row }) => row.scheduleId)).toEqual([null]);
});
