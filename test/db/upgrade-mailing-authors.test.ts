import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { DAY_MS, SECOND_MS } from "../../src/base/time";
import { readAllTables } from "../support/database-dump";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const NOW = 10 * DAY_MS;

const incident = (id: string, source: string) =>
  `('${id}', 'page_1', 'Errors', 'investigating', 'none', '${source}', 0, 1, 1, 1, 1)`;
const maintenance = (id: string, scheduleId: string | null) =>
  `('${id}', 'page_1', 'Upgrade', 'scheduled', 10, 20, 1, 1, 1, 1, 1, ${scheduleId === null ? "NULL" : `'${scheduleId}'`})`;
const schedule = (id: string) =>
  `('${id}', '${id}', 'page_1', 'Nightly', 'x', '0 2 * * *', 60, 'UTC', 1, 1, 1, 1)`;
const entry = (action: string, target: string, kind: string) =>
  `('${kind}', 'Someone', '${action}', '${target}', 'x', 1)`;
/** A change, whose mailing was recorded a millisecond later. */
const change = (source: string, kind: string, secondsAgo: number) =>
  `('cmp_1', 'operational', 'major_outage', '${source}', '${kind}', 'x', ${NOW - secondsAgo * SECOND_MS - 1})`;
const mailing = (id: string, subject: string, kind: string, at = NOW) =>
  `('${id}', 'evt_${id}', 'page_1', '${subject}', '${kind}', 'done', 0, 1, 1, 2, ${at})`;

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL, '{}', '[]');
  INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase, only_show_if_degraded,
      version, created_at, updated_at)
    VALUES ('cmp_1', 'page_1', 'api', 'API', 0, 'operational', 'operational', 1, 0, 1, 1, 1);
  INSERT INTO incidents (id, page_id, name, status, impact, source, draft, started_at, version, created_at, updated_at)
    VALUES ${["monitor", "api", "dashboard"].map((source) => incident(`inc_${source}`, source)).join()};
  INSERT INTO maintenance_schedules (id, ref, page_id, name, body, cron, duration_minutes, time_zone, enabled, version,
      created_at, updated_at)
    VALUES ${schedule("msc_key")}, ${schedule("msc_user")};
  INSERT INTO maintenances (id, page_id, name, status, scheduled_for, scheduled_until, auto_start, auto_complete, version,
      created_at, updated_at, schedule_id)
    VALUES ${maintenance("mnt_key", null)}, ${maintenance("mnt_user", null)}, ${maintenance("mnt_key_daily", "msc_key")},
      ${maintenance("mnt_user_daily", "msc_user")};
  INSERT INTO audit_log (actor_kind, actor_label, action, target_id, summary, at)
    VALUES ${entry("maintenance.plan", "mnt_key", "key")}, ${entry("maintenance.plan", "mnt_user", "user")},
      ${entry("maintenance.update", "mnt_user", "key")}, ${entry("maintenance_schedule.create", "msc_key", "key")},
      ${entry("maintenance_schedule.create", "msc_user", "cli")};
  INSERT INTO component_changes (component_id, from_status, to_status, source, actor_kind, actor_label, at)
    VALUES ${change("maintenance", "system", 3)}, ${change("manual", "user", 2)}, ${change("api", "key", 1)},
      ${change("monitor", "system", 0)};
  INSERT INTO mailings (id, event_id, page_id, subject_id, kind, state, cursor, max_seq, begin_at, deadline_at, created_at)
    VALUES ${mailing("mlg_1", "inc_monitor", "incident.created")}, ${mailing("mlg_2", "inc_api", "incident.updated")},
      ${mailing("mlg_3", "inc_dashboard", "incident.resolved")}, ${mailing("mlg_4", "inc_gone", "incident.created")},
      ${mailing("mlg_5", "mnt_key", "maintenance.scheduled")}, ${mailing("mlg_6", "mnt_user", "maintenance.started")},
      ${mailing("mlg_7", "mnt_key_daily", "maintenance.reminder")},
      ${[0, 1, 2, 3, 4].map((age) => mailing(`mlg_8${age}`, "cmp_1", "component.status_changed", NOW - age * SECOND_MS)).join()},
      ${mailing("mlg_9", "inc_monitor", "incident.created", NOW - DAY_MS)};
`;

test("the upgrade keeps all rows, with the authors of maintenance and of the mailings of a day", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "mailing_authors");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  const expected = Object.entries(tables).map(([table, rows]) => {
    const authors = AUTHORS[table];
    return [
      table,
      authors ? rows.map((row) => ({ ...row, author: authors[String(row["id"])] })) : rows,
    ];
  });
  expect(readAllTables(old.sqlite)).toEqual(Object.fromEntries(expected));
  for (const table of Object.keys(AUTHORS)) {
    expect(() => old.sqlite.run(`UPDATE ${table} SET author = 'robot'`)).toThrow("CHECK");
  }
  expectSound(old.sqlite);
});

const AUTHORS: Record<string, Record<string, string>> = {
  maintenance_schedules: { msc_key: "key", msc_user: "person" },
  maintenances: {
    mnt_key: "key",
    mnt_user: "person",
    mnt_key_daily: "key",
    mnt_user_daily: "person",
  },
  mailings: {
    mlg_1: "monitor",
    mlg_2: "key",
    mlg_3: "person",
    mlg_4: "person",
    mlg_5: "key",
    mlg_6: "person",
    mlg_7: "key",
    mlg_80: "monitor",
    mlg_81: "key",
    mlg_82: "person",
    mlg_83: "person",
    mlg_84: "person",
    mlg_9: "person",
  },
};
