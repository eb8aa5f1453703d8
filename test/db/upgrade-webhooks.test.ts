import { describe, expect, test } from "bun:test";
import { createDb } from "../../src/db/database";
import { deliveryHealth } from "../../src/features/webhooks/health";
import { listAllWebhooks } from "../../src/features/webhooks/store";
import { createTestClock } from "../support/clock";
import { readAllTables } from "../support/database-dump";
import { createTestLog } from "../support/log";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

/** A page with a component, two events and an audit entry. */
const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL);
  INSERT INTO components VALUES ('cmp_1', 'page_1', NULL, 'api', 'API „v1“', 'For all', 0, 'major_outage',
    'operational', 1, '2025-02-28', 0, 'apply', 4, 1, 2, NULL, 1);
  INSERT INTO events VALUES
    ('evt_1', 'component.status_changed', 'page_1', 'cmp_1', '{"a":[1,"é"]}', 30),
    ('evt_2', 'incident.created', 'page_1', 'inc_1', '{}', 31);
  INSERT INTO audit_log VALUES (9, 'key', 'key_1', 'CI', 'component.update', 'cmp_1', 'Set API', NULL, 30);
`;

const NEW_TABLES = ["deliveries", "delivery_tries", "webhook_hours", "webhooks"];

describe("a database from before webhooks", () => {
  test("the upgrade keeps every row and adds no endpoint or delivery", () => {
    using folder = temporaryFolder();
    using old = openOldDatabase(folder.path, 5, ROWS);
    const before = readAllTables(old.sqlite);
    expect(before["events"]).toHaveLength(2);

    expect(old.upgrade(6)).toMatchObject({ from: 5, to: 6 });
    expect(readAllTables(old.sqlite)).toEqual({ ...before, ...emptyTables(NEW_TABLES) });
    expectSound(old.sqlite);
  });

  test("after the upgrade, no delivery is pending for earlier events", () => {
    using folder = temporaryFolder();
    const { sqlite, upgrade } = openOldDatabase(folder.path, 5, ROWS);
    upgrade();
    const clock = createTestClock();
    const db = createDb(sqlite, clock, createTestLog("info").log);
    expect(listAllWebhooks(db, {})).toEqual([]);
    expect(deliveryHealth(db, clock.now())).toEqual({
      backlogs: [],
      count: 0,
      oldestAt: null,
    });
    db.close();
  });
});
