import { expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { MIGRATIONS } from "../../src/db/migrations";
import { findComponent } from "../../src/features/components/store";
import { findPage } from "../../src/features/pages/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages (id, ref, slug, name, time_zone, locale, visibility, theme, history_days, is_default, is_sample,
      content_version, content_changed_at, version, created_at, updated_at)
    VALUES ('page_1', 'acme', 'acme', 'Acme', 'UTC', 'en', 'public', 'system', 90, 1, 0, 1, 1, 1, 1, 1);
  INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase, only_show_if_degraded,
      version, created_at, updated_at)
    VALUES ('cmp_1', 'page_1', 'api', 'API', 0, 'operational', 'operational', 1, 0, 1, 1, 1);
`;

test("the upgrade shows reports to the team, sets no goal, and keeps all rows", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "reports");
  using old = openOldDatabase(folder.path, before, ROWS);
  const rows = readAllTables(old.sqlite);
  old.upgrade(before + 1);
  expect(readAllTables(old.sqlite)).toEqual({
    ...rows,
    pages: (rows["pages"] ?? []).map((row) => ({ ...row, report: "team" })),
    components: (rows["components"] ?? []).map((row) => ({ ...row, uptime_goal: null })),
    mailed_reports: [],
  });
  old.upgrade();
  expectSound(old.sqlite);
  const db = createDb(old.sqlite, createTestClock(), createTestLog("info").log);
  expect(findPage(db, { id: "page_1" })?.report).toBe("team");
  expect(findComponent(db, { id: "cmp_1" })?.uptimeGoal).toBeNull();
});
