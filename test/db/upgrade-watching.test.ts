import { describe, expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { createHeartbeatDirectory } from "../../src/features/monitors/tokens";
import { findMonitor, findMonitorState } from "../../src/features/monitors/store";
import { listSpans } from "../../src/features/monitors/spans-store";
import { createContext } from "../../src/installation";
import { sha256Hex, systemRandom } from "../../src/base/hash";
import { testConfig } from "../support/app";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const TOKEN = "A".repeat(43);

/** A website that is down, a job with a token, and a deleted monitor, each with rows in all tables of monitors. */
const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL, '{}');
  INSERT INTO components VALUES ('cmp_1', 'page_1', NULL, 'api', 'API', NULL, 0, 'major_outage',
    'operational', 1, NULL, 0, NULL, 4, 1, 2, NULL, 0, '[]');
  INSERT INTO incidents (id, page_id, name, status, impact, source, draft, started_at, version, created_at, updated_at)
    VALUES ('inc_1', 'page_1', 'Down', 'investigating', 'major', 'monitor', 0, 40, 1, 40, 40);
  INSERT INTO monitors (id, num, ref, name, type, config, token_hash, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, degraded_after_ms, on_down, open_incident, paused, managed_by, version,
      created_at, updated_at, deleted_at, tags)
    VALUES
      ('mon_2', 2, 'job', 'Job', 'push', '{}', X'${sha256Hex(TOKEN)}', 86400, 1000, 1, 1, 10, NULL, 'partial_outage',
        'never', 0, NULL, 3, 5, 9, NULL, '["night"]'),
      ('mon_1', 1, 'shop', 'Shop', 'http', '{"url":"https://shop.example.com/"}', NULL, 60, 1000, 3, 2, 10, 500,
        'major_outage', 'draft', 0, 'apply', 7, 1, 2, NULL, '[]'),
      ('mon_3', 3, 'shop', 'Old', 'tcp', '{}', NULL, 5, 1000, 3, 1, 1, NULL, 'partial_outage', 'never', 1, NULL, 2, 1,
        8, 8, '[]');
  INSERT INTO monitor_states VALUES
    (1, 'down', 40, 0, NULL, 1, 44, 0, NULL, NULL, 99, 0),
    (2, 'up', 10, 0, NULL, 0, NULL, 0, NULL, 77, NULL, 0),
    (3, 'paused', 8, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, 0);
  INSERT INTO monitor_spans VALUES (2, 5, NULL, 'up', NULL), (1, 1, 40, 'up', NULL), (1, 40, NULL, 'down', 'Refused.');
  INSERT INTO monitor_components VALUES ('mon_1', 'cmp_1'), ('mon_2', 'cmp_1');
  INSERT INTO monitor_checks VALUES (1, 40, 1, NULL, 'Refused.'), (2, 77, 0, 3, NULL);
  INSERT INTO monitor_rollups VALUES (1, 60000, 0, 1, 1, 0, NULL, NULL, NULL, NULL);
  INSERT INTO monitor_incidents VALUES ('mon_1', 'inc_1', 'page_1', 1, 40, NULL);
  INSERT INTO webhooks (id, ref, url, events, format, settings, enabled, secret, version, created_at, updated_at)
    VALUES ('whk_1', 'chat', 'https://a.test/', '["*"]', 'standard', '{}', 1, 'whsec_a', 1, 1, 1);
`;

describe("a database in which each monitor has one token", () => {
  test("the upgrade keeps every row and moves the token to a table of its own", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 11, ROWS);
    const before = readAllTables(old.sqlite);
    expect(old.upgrade(12)).toMatchObject({ from: 11, to: 12 });
    const rowsOf = (table: string) => before[table] ?? [];
    expect(readAllTables(old.sqlite)).toEqual({
      ...before,
      ...emptyTables(["monitor_dependencies"]),
      monitors: rowsOf("monitors").map(({ token_hash: _hash, ...row }) => ({
        ...row,
        inverted: 0,
        reminder_seconds: 0,
        group_name: null,
        notes: null,
      })),
      monitor_states: rowsOf("monitor_states").map((row) => ({
        ...row,
        unreachable_via: null,
        reminders: 0,
        reminded_at: null,
      })),
      monitor_tokens: [
        {
          hash: rowsOf("monitors").find(({ id }) => id === "mon_2")?.["token_hash"],
          monitor_id: "mon_2",
          kind: "native",
          created_at: 5,
        },
      ],
      webhooks: rowsOf("webhooks").map((row) => ({ ...row, monitors: '["*"]' })),
    });
    expectSound(old.sqlite);
  });

  test("after the upgrade, the token and the history of a monitor are found", () => {
    using folder = temporaryFolder();
    const { sqlite, upgrade } = openOldDatabase(folder.path, 11, ROWS);
    upgrade();
    const clock = createTestClock();
    const { log } = createTestLog("info");
    const db = createDb(sqlite, clock, log);
    const ctx = createContext({ config: testConfig(), db, clock, log, random: systemRandom });
    expect(createHeartbeatDirectory(ctx).find(TOKEN)).toMatchObject({ monitorId: "mon_2" });
    expect(findMonitor(db, { id: "mon_1" })).toMatchObject({ name: "Shop", managedBy: "apply" });
    expect(findMonitorState(db, { monitorNum: 1 })).toMatchObject({ state: "down", successes: 1 });
    const spans = listSpans(db, { nums: "[1]", from: 0, to: 50 }).map(({ row }) => row.state);
    expect(spans).toEqual(["up", "down"]);
    db.close();
  });

  test("after the upgrade, deleting a monitor's row deletes what belongs to it", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 11, ROWS);
    old.upgrade();
    const dependent = ["components", "states", "spans", "checks", "rollups", "incidents", "tokens"];
    old.sqlite.run("DELETE FROM monitors");
    for (const name of dependent)
      expect(old.rows(`SELECT * FROM monitor_${name}`), name).toEqual([]);
    expectSound(old.sqlite);
  });

  test.each([
    ["no interval", "UPDATE monitors SET interval_seconds = NULL"],
    ["an interval of a year", "UPDATE monitors SET interval_seconds = 31536000"],
    ["an unreachable monitor", "UPDATE monitor_states SET state = 'unreachable'"],
    ["an unreachable time", "UPDATE monitor_spans SET state = 'unreachable'"],
    ["reminders each week", "UPDATE monitors SET reminder_seconds = 604800"],
  ])("the upgraded schema allows %s", (_name, sql) => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 11, ROWS);
    old.upgrade();
    expect(() => old.sqlite.run(sql)).not.toThrow();
  });

  test.each([
    ["an interval of 4 seconds", "UPDATE monitors SET interval_seconds = 4"],
    ["a negative time between reminders", "UPDATE monitors SET reminder_seconds = -1"],
    ["a token that is not hashed", "UPDATE monitor_tokens SET hash = X'00'"],
  ])("the upgraded schema refuses %s", (_name, sql) => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 11, ROWS);
    old.upgrade();
    expect(() => old.sqlite.run(sql)).toThrow("CHECK constraint failed");
  });
});
