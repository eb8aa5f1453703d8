import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { readAllTables } from "../support/database-dump";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const WEBHOOK =
  "(id, ref, url, events, format, settings, enabled, secret, version, created_at, updated_at)";

const ROWS = `
  INSERT INTO webhooks ${WEBHOOK} VALUES
    ('whk_1', 'chat', 'https://chat.test/', '["*"]', 'slack', '{}', 1, '', 1, 5, 5),
    ('whk_2', 'program', 'https://program.test/', '["*"]', 'standard', '{}', 1, '', 1, 5, 5);
  INSERT INTO events (id, type, page_id, subject_id, data, at) VALUES
    ('evt_1', 'monitor.down', NULL, 'mon_1', '{}', 5), ('evt_2', 'incident.created', NULL, 'inc_1', '{}', 6),
    ('evt_3', 'monitor.certificate_expiring', NULL, 'mon_1', '{}', 7);
  INSERT INTO deliveries (id, webhook_id, event_id, subject_id, status, tries, tries_before, next_try_at, created_at,
      finished_at)
    SELECT 'dlv_' || event.id || webhook.id, webhook.id, event.id, event.subject_id, 'pending', 2, 1, 90, event.at, NULL
    FROM events AS event CROSS JOIN webhooks AS webhook;
  INSERT INTO delivery_tries (delivery_id, number, at, latency_ms, status_code, error, answer)
    SELECT id, 1, 8, 9, 500, NULL, 'Sorry' FROM deliveries;
  INSERT INTO delivery_batches (event_ids, webhook_ids, written) VALUES ('["evt_1"]', '["whk_1"]', 0);
`;

test("the upgrade keeps all deliveries and attempts, and names the monitors of messages for people", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "gathered_deliveries");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  const isNamed = (id: unknown) => id === "dlv_evt_1whk_1";
  const deliveries = tables["deliveries"] ?? [];
  expect(deliveries).toHaveLength(6);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    webhooks: (tables["webhooks"] ?? []).map((row) => ({ ...row, group_seconds: 30 })),
    deliveries: deliveries.map((row) => ({
      ...row,
      monitor_id: isNamed(row["id"]) ? "mon_1" : null,
      gathers: 0,
      group_id: null,
    })),
    delivery_batches: (tables["delivery_batches"] ?? []).map((row) => ({ ...row, monitors: "{}" })),
    delivery_groups: [],
    webhook_bursts: [],
  });
  expectSound(old.sqlite);
  old.sqlite.run("UPDATE deliveries SET status = 'superseded'");
  expect(() => old.sqlite.run("UPDATE deliveries SET status = 'other'")).toThrow("CHECK");
  expect(() => old.sqlite.run("UPDATE webhooks SET group_seconds = 301")).toThrow("CHECK");
});
