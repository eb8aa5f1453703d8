import { describe, expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { findComponent } from "../../src/features/components/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

/** A page with an incident and two components, one of which is deleted. */
const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
  INSERT INTO components VALUES
    ('cmp_1', 'page_1', NULL, 'api', 'API „v1“', 'For all', 0, 'major_outage', 'operational', 1,
      '2025-02-28', 0, 'apply', 4, 1, 2, NULL),
    ('cmp_2', 'page_1', NULL, 'old', 'Old', NULL, 1, 'operational', 'operational', 0, NULL, 1, NULL, 1, 1, 2, 9);
  INSERT INTO component_causes VALUES (1, 'cmp_1', 'incident', 'inc_1', 'major_outage', 5, NULL);
  INSERT INTO incidents VALUES ('inc_1', 'page_1', 'Errors', 'investigating', 'major', NULL, 'api', 0, NULL,
    5, NULL, NULL, NULL, NULL, NULL, 1, 5, 5, NULL);
`;

const NEW_TABLES = [
  "component_no_data",
  "liveness",
  "monitor_checks",
  "monitor_components",
  "monitor_incidents",
  "monitor_rollups",
  "monitor_spans",
  "monitor_states",
  "monitors",
];

describe("a database from before monitors", () => {
  test("the upgrade keeps all rows and adds no monitors or response times", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 4, ROWS);
    const before = readAllTables(old.sqlite);
    expect(before["component_causes"]).toHaveLength(1);

    expect(old.upgrade(5)).toMatchObject({ from: 4, to: 5 });
    expect(readAllTables(old.sqlite)).toEqual({
      ...before,
      components: (before["components"] ?? []).map((row) => ({ ...row, show_latency: 0 })),
      ...emptyTables(NEW_TABLES),
    });
    expectSound(old.sqlite);
  });

  test("after the upgrade, components show no response time", () => {
    using folder = temporaryFolder();
    const { sqlite, upgrade } = openOldDatabase(folder.path, 4, ROWS);
    upgrade();
    const db = createDb(sqlite, createTestClock(), createTestLog("info").log);
    expect(findComponent(db, { id: "cmp_1" })).toMatchObject({
      name: "API „v1“",
      status: "major_outage",
      startDate: "2025-02-28",
      showLatency: false,
      version: 4,
    });
    db.close();
  });
});
